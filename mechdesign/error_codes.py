"""The codes of errors: one code is one cause with one cure, and errors are made by it.

``raise InputError.unknown_label("the label 'x' is not ...")`` raises an `InputError` whose ``code`` is
``unknown-label``. The page ``docs/reference/errors.md`` is written from this file.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

Made = TypeVar("Made")


class Code:
    """Why an error is raised, and what to do: an attribute of a class of errors that makes errors with this code.

    Parameters
    ----------
    cure : str
        What to do, in whole sentences. The cause is the docstring below the attribute.

    Attributes
    ----------
    word : str
        The code: the name of the attribute with hyphens.
    """

    def __init__(self, cure: str) -> None:
        self.cure = cure

    def __set_name__(self, owner: type, name: str) -> None:
        self.word = name.replace("_", "-")

    def __get__(self, error: object, kind: Callable[..., Made]) -> partial[Made]:
        return partial(kind, code=self.word)


class InternalCodes:
    """What is nobody's intention."""

    internal_error = Code("Set MECHDESIGN_TRACEBACK=1 to see the traceback, and report it.")
    """The program has a defect."""


class InputCodes:
    """What may be wrong with values, files and options."""

    # Values.
    input = Code("Do what the message says.")
    """A set or a utility of another package refuses a value, and gives no code of its own."""
    wrong_type = Code("Give what the message names.")
    """An argument is of another type than is accepted."""
    unknown_choice = Code("Give one of the names that the message lists.")
    """An argument or an option names something that does not exist."""
    not_a_number = Code('Give numbers, or decimals and ratios as text: 0.5, "1e-9", "9/8". Fill masked entries.')
    """A value, or an entry of an array, is not a finite number."""
    not_a_whole_number = Code("Give a whole number in the range that the message names.")
    """A value is not a whole number, or lies outside of the range of whole numbers that is accepted."""
    out_of_range = Code("Give a number in the range of the message.")
    """A number lies outside of the range in which it has a meaning."""
    epsilon_out_of_range = Code(
        'Give a finite decimal such as 0.5, or the logarithm of a ratio of at least 1, such as "log(9/8)".'
    )
    """Epsilon, or the promise from below, is not a number of nats from 0 to 700, or leaves nothing to compute here."""
    delta_out_of_range = Code("Give a delta in the range of the message.")
    """Delta is not a probability in the range that is accepted."""
    radius_out_of_range = Code("Give an l1 distance from 0, a known prior, to 2, every prior.")
    """The radius of a ball is not in the range that is accepted."""
    too_many_digits = Code("Give fewer digits, or ratios over one denominator.")
    """A number has more digits, a larger exponent or a larger denominator than exact arithmetic takes."""
    not_probabilities = Code("Give probabilities from 0 to 1.")
    """An entry that must be a probability is below 0 or above 1."""
    wrong_sum = Code("Give probabilities that sum to 1. Where the message says exactly, give ratios as text.")
    """Probabilities do not sum to 1, or rows of whole numbers do not have the same sum."""
    wrong_size = Code("Give one entry for each category, row, output or set, as the message says.")
    """An array or a list has another shape, or another number of entries, than what it belongs to."""
    too_many_given = Code("Give fewer, or do what the message names instead.")
    """There are more categories, sets, queries or problems than are accepted."""
    nothing_given = Code("Give at least one entry with data.")
    """A list, a table or a file is empty, or all its counts are 0."""
    # Arguments.
    missing_argument = Code("Give it too, or leave out what needs it.")
    """An argument or an option is missing that the others need."""
    conflicting_arguments = Code("Give those that the message names.")
    """Arguments or options are given together of which only one can hold."""
    needless_argument = Code("Leave it out.")
    """An argument or an option is given that has no meaning beside the others."""
    radius_or_delta_missing = Code(
        "Give delta, a probability of failure from which the radius follows; or a radius; or say that the prior "
        "is known."
    )
    """Nothing says how far the counts may be from the true prior."""
    usage = Code("Read the help of the command: mechdesign COMMAND --help.")
    """The command line has an unknown command or option, or a value is missing or malformed."""
    missing_package = Code("Install it by pip, as the message says.")
    """An optional package is needed and is not installed."""
    # Labels and records.
    unknown_label = Code("Correct it, add it to the categories, or name the label that unknown values are taken for.")
    """A label is not that of a category, or a code is not the position of one."""
    label_twice = Code("Rename or remove one of the two.")
    """A label or a name stands twice where labels must differ."""
    bad_label = Code("Give an integer, or printable text of 1 to 1,000 characters without white space at its ends.")
    """A value cannot be a label: it is empty, too long, not printable, or begins or ends with white space."""
    ambiguous_labels = Code("Give labels as text, or say which way is meant, as the message says.")
    """Labels can be read in two ways: as labels or as positions, or as two combinations of labels."""
    labels_differ = Code("Give both the same labels; their order does not matter where the message says so.")
    """Two things that belong together have different labels or indexes."""
    missing_value = Code("Leave the record out, or name the label that missing values are taken for.")
    """A record or an id is missing."""
    wrong_record_type = Code("Give labels as text or integer codes, in a list, an array, a series or a column.")
    """Records are in a container, or of a type, that is not read."""
    not_counts = Code("Give a mapping from labels to counts. If these are records, use a function that counts them.")
    """Counts are not a table from labels to whole numbers from 0 to 10^15."""
    bad_id = Code("Give ids as text or integers without white space at their ends.")
    """An id cannot say whom a record is about: it is not text or an integer, or CSV files would change it."""
    unknown_group = Code("Give one of the groups that are there.")
    """No group has this name."""
    # Priors and sets of priors.
    too_few_categories = Code("Give at least two.")
    """There are fewer than two categories, so that nothing can be learnt."""
    never_occurs = Code("Leave it out, merge it with another one, or give a set of priors in which it can occur.")
    """A category or an output never occurs: its counts are 0, or its probability is 0 under every prior."""
    prior_outside_set = Code("Give a member, or a larger set.")
    """The estimate or the reference prior is not a member of the set of priors."""
    ball_leaves_simplex = Code("Give the ball within the simplex (within_simplex = true), or the exact_set of the set.")
    """A ball as printed in the paper may hold vectors that are not probabilities, and this needs probabilities."""
    set_not_accepted = Code("Give a set of the kind that the message names.")
    """A set of priors is of a kind that is not accepted here."""
    limits_contradict = Code("Give limits between which there is a prior.")
    """No prior meets all limits of a set: a lower limit is above an upper one, or their sums exclude 1."""
    evidence_contradicts = Code("Make the set by from_counts, or leave the evidence out.")
    """A set claims to follow from counts, and these counts give another set."""
    sample_proves_itself = Code("Give counts of other data, or split the sample: split_sample, or --split.")
    """The strings that a proof treats apart are chosen by the sample that proves, so that it would prove nothing."""
    not_supermodular = Code("Say supermodular=False, or give another function.")
    """The lower function of a set is not supermodular, although it is said to be."""
    not_enough_samples = Code("Ask for less: a larger delta, a larger radius, or a larger guaranteed epsilon.")
    """No number of samples, or none up to 10^15, gives what is asked for."""
    # Utilities, workloads, methods.
    bad_workload = Code("Give a named workload, a table, or a matrix, as the message shows.")
    """A workload cannot be read."""
    nothing_to_estimate = Code("Give queries whose answers depend on the frequencies.")
    """The answer of a query is known without data."""
    wrong_objective = Code("Give a utility of the kind that is named.")
    """The utility is of a kind that does not go with the request."""
    not_an_f_information = Code("Give another f.")
    """The function f of an f-information is not convex and finite with f(1) = 0."""
    function_fails = Code("Write it with numpy functions of arrays, and return an array of the same shape.")
    """A function of the user's own fails, or returns something else than one number for each entry."""
    bad_registration = Code("Rename it, or correct what the message names.")
    """A class that is registered has a name that is taken, or does not keep the rules of such classes."""
    no_file_format = Code("Use a set or a utility that is made known by register, and values that files hold.")
    """A set, a utility or a value cannot be written to a file."""
    constraints_infeasible = Code(
        "Give a larger epsilon, where the message names one, or lower floors and fewer pairs."
    )
    """No table keeps the promise and the constraints, or none strictly, which whole numbers need."""
    method_does_not_cover = Code("Take one that the message lists, or leave the method to the program.")
    """The method that is asked for does not cover the problem."""
    not_identifiable = Code(
        "Take the maximum likelihood, merge what the mechanism cannot tell apart, or allow more outputs."
    )
    """Reports of the mechanism do not determine what is to be estimated."""
    not_a_block_design = Code("Give blocks in which each category, and each pair, is equally often.")
    """The blocks are not a balanced design: categories, or pairs of categories, are in unequal numbers of blocks."""
    # Histograms.
    no_noise_enough = Code("Give a larger sigma, a larger delta or a larger epsilon, as the message says.")
    """No threshold, or no amount of noise, reaches the delta that is asked for."""
    too_many_counters = Code(
        "Give a k that holds for every data set that is possible, or release the k largest counts."
    )
    """More counters are above 0 than the number k for which the noise is planned."""
    float_noise = Code("Take discrete noise, or accept this by allow_float_noise=True (--allow-float-noise).")
    """The noise would be drawn as floats, whose last bits may tell more than the analysis says."""
    # Files.
    cannot_read = Code("Correct the path or the permissions, as the message says.")
    """A file or a folder is not there, is of another kind, or its permissions forbid reading it."""
    cannot_write = Code("Give a path in a writable folder with room.")
    """A file cannot be written: its folder is missing or not writable, the disk is full, or another run writes it."""
    file_exists = Code("Give another name, or ask for the replacement where the message names a way.")
    """The output exists, and what stands there is not replaced by chance."""
    same_file = Code("Give different places.")
    """Two inputs or outputs are the same file, or one folder lies in the other."""
    wrong_file_ending = Code("Use an ending that the message lists.")
    """The ending of a file name is not one from which the format follows."""
    file_too_large = Code("Give a smaller file, or split it.")
    """A file is larger, or would take longer to read, than is accepted."""
    wrong_file_format = Code("Give a file of the kind that is named.")
    """A file is not of the format that is expected."""
    not_utf8 = Code("Convert the file to UTF-8, or rename it.")
    """A text or the name of a file is not UTF-8."""
    damaged_file = Code("Give the file as it was saved, or write it again.")
    """A file is not what was written: it was changed, or its parts do not fit each other."""
    unknown_key = Code("Correct its spelling, or remove it.")
    """A file has a key that its format does not know."""
    missing_key = Code("Add it.")
    """A file lacks a key that it needs."""
    bad_field = Code("Give a value as the message describes it.")
    """The value of a key in a file is not accepted."""
    key_out_of_place = Code("Remove it.")
    """A file has a key that does not go with its other keys."""
    conflicting_keys = Code("Give one of them.")
    """A file has keys that exclude each other, or lacks all of which it needs one."""
    malformed_table = Code("Correct the line that the message names.")
    """A CSV or Parquet file is malformed: fields are missing, or a quote is not closed."""
    first_line_is_data = Code("Pass header=False (--no-header).")
    """The first line of a table is data, where a header is expected."""
    unknown_column = Code("Name a column, or its index without a header.")
    """A file has no such column, or two of them."""
    column_twice = Code("Name two columns, or rename one.")
    """One column has two roles, or has the name of another column."""
    wrong_column_type = Code("Convert the column, or leave it out.")
    """A column is of a type that cannot be read, grouped by or written."""
    stray_file = Code("Move it away, or choose the files by a glob.")
    """A folder holds a file or a link that does not belong to the data set."""
    parts_differ = Code("Give files of one kind with equal columns.")
    """The files of a data set differ in kind, in columns or in types."""
    # Reports, permanent reports, clusters, grids.
    wrong_mechanism = Code("Give the mechanism that made the reports.")
    """Reports are by another mechanism than the one that is given."""
    wrong_sample = Code("Give the counts of the sample that proves, which `design --evidence` writes.")
    """The counts or shares of a reference are not those of the sample that proves a mechanism."""
    second_report = Code(
        "Give what the first run was given: the same mechanism, key and parts. For other records, give a new folder."
    )
    """The run would draw second reports about the same records, and two reports leak more than one."""
    key_exposed = Code(
        "Give the path of a key file that its owner alone can read. If others may have read it, make another key."
    )
    """A secret key could be read by others, or would be sent or printed."""
    cluster_not_ready = Code("Start the scheduler, correct the address, or install the same version everywhere.")
    """The scheduler of a cluster does not answer, or its workers have another version."""
    point_refused = Code("Correct the value that the message names.")
    """No point of a grid is a problem that can be solved."""


class GuaranteeCodes:
    """Which claims may be false."""

    guarantee_false = Code("Do not use it; design it again, or promise less.")
    """The mechanism leaks more than its guarantee promises."""
    delta_false = Code("Do not rely on this delta; make the set again from the counts.")
    """The delta of a guarantee does not follow from the samples that are given for it."""
    constraint_false = Code("Do not use it as such a table; design it again.")
    """The numbers of a table break a constraint that its file states: invariance, a floor or a forbidden pair."""
    optimality_false = Code(
        "The guarantee may hold all the same (mechdesign verify --guarantee-only); design again for the claim."
    )
    """The value or the bound that a file claims is not what its numbers prove."""
    unbounded_leakage = Code("Repeat fewer times, or report by a mechanism that excludes fewer categories.")
    """Several reports about one record leak without bound."""
    rounding_moves_too_far = Code("Give more bits, or use Mechanism.repaired, which says how far it moves the matrix.")
    """Integers that keep the guarantee are further from the matrix than rounding explains."""
    sampler_wrong = Code("Repair the sampler or its source of randomness.")
    """The reports of a sampler are not those of the mechanism."""
    cover_too_small = Code("Leave the cover out, or give a larger ball.")
    """A cover does not hold a set of the union."""


class SolverCodes:
    """How a solver may fail."""

    solver_failed = Code("Change epsilon, or what the message names, a little.")
    """A numerical solver ended without a solution."""
    not_converged = Code("Change epsilon or the radius a little, or do what the message names.")
    """A numerical search ended before its result was within its tolerance."""
    no_mechanism_found = Code("Allow more outputs.")
    """A search found no mechanism with so few outputs."""
    defect = Code("Report it with the problem, so that it can be repaired.")
    """A defect of mechdesign, or of a utility or a set of another package, showed."""


class LimitCodes:
    """Which limits a request may pass."""

    no_method = Code("Merge categories, or take a set or a utility that the message names.")
    """No method designs for this problem: it has too many categories for its kind of set, the extreme rays of its set
    are not known, or only the constant mechanism keeps its promise.
    """
    too_much_work = Code("Merge categories, outputs or groups, or ask for less, as the message says.")
    """An exact computation, or its result, would be too large."""
    bound_not_recomputed = Code("Give more time, or prove the guarantee alone (mechdesign verify --guarantee-only).")
    """A claimed bound was not recomputed in the time given. The guarantee holds."""
    beyond_precision = Code("Give rounder numbers, or larger epsilon or delta, as the message says.")
    """Numbers are needed that are finer than the arithmetic that is used here."""
    too_few_bits = Code("Give more bits, or merge outputs.")
    """No integers with so few bits keep the guarantee."""
    design_not_identifiable = Code("Give more bits, or a larger epsilon, as the message says.")
    """In whole numbers, the reports of the design do not determine the answer of every query."""
    no_reports_enough = Code("Give a larger epsilon.")
    """No number of reports is enough, as they say nothing."""
    workers_ended = Code("Give them memory, and run the same command again: what is finished stays.")
    """Processes or workers ended before their tasks did."""
    out_of_memory = Code("Give smaller inputs, or run where there is more.")
    """There was not enough memory."""
    interrupted = Code("Run it again.")
    """The command was interrupted by the user or the system."""
    incomplete_installation = Code("Install all of them: pip install mechdesign.")
    """A package that mechdesign needs is not installed."""
    not_machine_checked = Code("Do what the message says; verify without --machine-checked proves the guarantee too.")
    """Coq is missing, too old or too slow, the proofs do not cover the file, or Coq refuses what Python accepts."""
    not_certified = Code("Give a larger time limit or tolerance, or read the page about uncertified results.")
    """A design was found and written, and its gap is larger than the tolerance."""
    no_design = Code("Read the column of failures, and correct these problems.")
    """Some problems of a sweep have no design."""
