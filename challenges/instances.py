"""The instances: problem files by name, in families, and the files that prove what is known of them."""

from __future__ import annotations

import difflib
import lzma
import tomllib
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import mechdesign as md
from mechdesign.errors import InputError, shorten
from mechdesign.mechanism.mechanism_files import from_content
from mechdesign.problem_file import ProblemFile

FOLDER = Path(__file__).parent
_HOMES = (FOLDER / "instances", FOLDER.parent / "problems")


@dataclass(frozen=True)
class Instance:
    """A problem with a name.

    Attributes
    ----------
    name : str
        That of the problem file, and of the files that prove what is known.
    """

    name: str

    @cached_property
    def path(self) -> Path:
        """The problem file, here or among the problems of the project."""
        return next(home / f"{self.name}.toml" for home in _HOMES if (home / f"{self.name}.toml").exists())

    @cached_property
    def file(self) -> ProblemFile:
        """What the problem file holds."""
        return md.read_problem(self.path)

    @property
    def problem(self) -> md.DesignProblem:
        """The problem."""
        return self.file.problem

    def in_words(self) -> str:
        """Return size, set, promise and objective, for a list."""
        problem = self.problem
        size = problem.uncertainty.size
        return f"{size} categories, {self.set_in_words}, {problem.sides.in_words}, {problem.utility.name}"

    @property
    def set_in_words(self) -> str:
        """The kind of the set of priors, or that it is one prior or all of them."""
        known = self.problem.uncertainty
        ball = known.l1_ball
        if ball is None or 0 < ball.radius < 2:
            return known.kind
        return "known prior" if ball.radius == 0 else "every prior"

    @property
    def best_path(self) -> Path:
        """The best mechanism known, with a bound for all."""
        return FOLDER / "best" / f"{self.name}.json.xz"

    @property
    def bound_path(self) -> Path:
        """A mechanism whose bound is better than that of the best one, if there is such a file."""
        return FOLDER / "best" / f"{self.name}.bound.json.xz"


@dataclass(frozen=True)
class FamilyOfInstances:
    """Instances of one kind.

    Attributes
    ----------
    title, about : str
        What they are, and what is hard about them.
    instances : tuple of Instance
        The instances.
    """

    title: str
    about: str
    instances: tuple[Instance, ...]


@cache
def version() -> int:
    """Return the version of the set, which is raised when an instance is added; none is ever changed."""
    return int(_index()["version"])


@cache
def families() -> tuple[FamilyOfInstances, ...]:
    """Return all instances, in families."""
    return tuple(
        FamilyOfInstances(each["title"], each["about"], tuple(map(Instance, each["instances"])))
        for each in _index()["family"]
    )


@cache
def _index() -> dict:
    return tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))


def instances() -> tuple[Instance, ...]:
    """Return all instances."""
    return tuple(instance for family in families() for instance in family.instances)


def instance(name: str) -> Instance:
    """Return the instance of a name.

    Raises
    ------
    InputError
        If there is none.
    """
    known = {each.name: each for each in instances()}
    if name not in known:
        near = difflib.get_close_matches(name, known, 3)
        hint = f"; near: {', '.join(near)}" if near else ""
        raise InputError.unknown_choice(
            f"the instance {shorten(name)} is unknown; accepted: those that python -m challenges list prints{hint}"
        )
    return known[name]


def packed(path: Path) -> md.Mechanism:
    """Return the mechanism of a file that was packed with xz, its guarantee proved."""
    return md.Mechanism(*from_content(lzma.decompress(path.read_bytes()), path.name))
