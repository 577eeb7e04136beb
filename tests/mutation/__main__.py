"""Change one place of a module at a time, and see whether the tests of its folder fail.

    python -m tests.mutation mechdesign/mechanism/proof.py --sample 50 --seed 1

cosmic-ray makes the changes, in a copy of the project. A change that no test notices has survived; it is printed, and
the exit status is 1, unless ``equivalent.toml`` names it with the reason why nothing can be seen of it.
"""

import argparse
import ast
import compileall
import contextlib
import os
import random
import re
import shutil
import sys
import tempfile
import tomllib
from difflib import unified_diff
from pathlib import Path
from py_compile import PycInvalidationMode

from cosmic_ray.commands import init
from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import use_db

from tests.mutation.runner import forks, passes

ROOT = Path(__file__).parent.parent.parent
GENERAL = [Path("tests/test_values.py")]  # what holds for all folders
# Slips that one could make. Most of cosmic-ray's other replacements end in a TypeError, which proves little.
SLIPS = re.compile(
    r"core/(ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Add|Mul_Div|Div_Mul|Pow_Mul|FloorDiv_Div|FloorDiv_Mul|"
    r"Mod_FloorDiv|LShift_RShift|RShift_LShift|BitAnd_BitOr|BitOr_BitAnd|BitXor_BitOr)"
    r"|ReplaceComparisonOperator_(Is_IsNot|IsNot_Is|(Eq|NotEq|Lt|LtE|Gt|GtE)_(Eq|NotEq|Lt|LtE|Gt|GtE))"
    r"|ReplaceUnaryOperator_(Delete_\w+|USub_UAdd)|Replace(True|False|And|Or|Break|Continue)With\w+"
    r"|AddNot|ExceptionReplacer|NumberReplacer|RemoveDecorator|ZeroIterationForLoop)"
)


def annotations(module):
    """Yield the first and last position of everything that is only a type."""
    for node in ast.walk(ast.parse(module.read_text())):
        for name in ("annotation", "returns"):
            if (found := getattr(node, name, None)) is not None:
                yield (found.lineno, found.col_offset), (found.end_lineno, found.end_col_offset)


def changes(module):
    """Return the slips of a module, one list for each place."""
    types = list(annotations(module))
    lines = module.read_text().splitlines()
    with use_db(":memory:") as db:
        init([module], db, {})
        items = sorted(db.work_items, key=lambda item: (item.mutations[0].start_pos, item.mutations[0].operator_name))
    places = {}
    for item in items:
        (change,) = item.mutations
        typed = any(first <= tuple(change.start_pos) and tuple(change.end_pos) <= last for first, last in types)
        row, column = change.start_pos
        marker = lines[row - 1].startswith("*,", column)  # before parameters that have names, taken for a product
        if SLIPS.fullmatch(change.operator_name) and not typed and not marker:
            places.setdefault((change.start_pos, change.end_pos), []).append(change)
    return list(places.values())


def named_after(module, file):
    """Return whether a module's name is part of a test file's: ``ball`` of ``test_l1_ball``."""
    return f"_{module.stem}_" in f"_{file.stem.removeprefix('test_')}_"


class Tests:
    """The tests of a module, timed once without a change: those named after it first, then fast ones of its folder."""

    def __init__(self, given):
        self.context = forks()
        self.seconds = {}
        self.given = given

    def timed(self, file):
        if file not in self.seconds:
            passed, self.seconds[file] = passes(self.context, [file], 1_000)
            if not passed:
                raise SystemExit(f"{file} fails without a change")
        return self.seconds[file]

    def _found(self, module, slowest):
        """Yield files named after a module, wherever they are, and the other ones of its folder that are fast."""
        folder = Path("tests", module.parts[1])
        for file in sorted(Path("tests").rglob("test_*.py")):
            near = folder in file.parents
            if named_after(module, file) or (near and (slowest is None or (slowest and self.timed(file) <= slowest))):
                yield file

    def of(self, module, slowest):
        """Return the files to be run for a module, and a time-out."""
        key = module.as_posix()
        others = map(Path, self.given[key]) if key in self.given else self._found(module, slowest)
        chosen = list(dict.fromkeys([module, *GENERAL, *others]))
        chosen.sort(key=lambda file: (file != module and not named_after(module, file), self.timed(file)))
        return chosen, 20 + 3 * sum(map(self.timed, chosen))


def difference(before, after):
    """Return the lines that were taken out and put in, without their indentation."""
    lines = [
        line for line in unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="") if line[2:3] != line[:1]
    ]
    return tuple(" ".join(line[1:].strip() for line in lines if line[0] == sign) for sign in "-+")


def tried(module, arguments, tests, equivalent):
    """Print what became of each change, and return how many survived without a reason."""
    places = changes(module)
    draw = random.Random(f"{arguments.seed} {module}")
    chosen = draw.sample(places, min(arguments.sample or len(places), len(places)))
    picked = [draw.choice(place) for place in chosen] if arguments.sample else [c for place in chosen for c in place]
    files, seconds = tests.of(module, arguments.slowest)
    killed = explained = 0
    for change in picked:
        with use_mutation(module, get_operator(change.operator_name)(), change.occurrence) as sources:
            survived, _ = passes(tests.context, files, seconds)
        operator = change.operator_name.removeprefix("core/")
        found = (str(module), change.definition_name or "module", operator, *difference(*sources))
        if not survived:
            killed += 1
        elif found in equivalent:
            explained += 1
        else:
            print("survived: {} {} {}\n  - {}\n  + {}".format(*found), flush=True)
    left = len(picked) - killed - explained
    print(
        f"{module}: {sum(map(len, places))} changes at {len(places)} places, tried {len(picked)} "
        f"(seed {arguments.seed}): {killed} killed, {explained} equivalent, {left} survived",
        flush=True,
    )
    return left


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("modules", nargs="+", type=Path, help="files of the package")
    parser.add_argument("--sample", type=int, help="how many places of each module, one change at each; else all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--slowest", type=float, help="leave out other test files that take longer, in seconds")
    parser.add_argument("--map", type=Path, help="a TOML file of module = [test files], for modules it names")
    arguments = parser.parse_args()
    given = tomllib.loads(arguments.map.read_text()) if arguments.map else {}
    named = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text())["equivalent"]
    equivalent = {tuple(entry[part] for part in ("module", "where", "operator", "before", "after")) for entry in named}
    modules = [module.resolve().relative_to(ROOT) for module in arguments.modules]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "project")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        os.environ["PYTHONPATH"] = str(copy)
        compileall.compile_dir(copy / "mechdesign", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        with contextlib.chdir(copy):
            tests = Tests(given)
            left = sum(tried(module, arguments, tests, equivalent) for module in modules)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
