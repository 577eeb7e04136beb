"""``python -m tests.fuzz --seconds 600``: hostile input for as long as one likes."""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter

from .commands import FUZZERS
from .contract import judge
from .room import Room
from .surface import ATTACKS


def try_one(room: Room, fuzzer: str, seed: str) -> tuple[list[str], list[str]]:
    """Run one input, that fuzzer and seed determine; return the command line and what is wrong."""
    if fuzzer in ATTACKS:
        result = room.surface(fuzzer, f"{fuzzer}/{seed}")
        wrong = result.ended.strip().splitlines()[-1:] if result.ended else result.stdout.decode().splitlines()
        return [fuzzer], wrong
    case = FUZZERS[fuzzer](random.Random(f"{fuzzer}/{seed}"))
    return list(case.arguments), judge(room, case)


def _kind(wrong: str) -> str:
    """Return what is wrong without its numbers and quoted values, by which failures are counted."""
    return " ".join(re.sub(r"\[.*?\]|'[^']*'|\"[^\"]*\"|[0-9]+", "_", wrong).split())[:150]


def main() -> int:
    """Fuzz, print what was found, and return 1 if anything was."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="0", help="what is tried; the same seed tries the same inputs")
    parser.add_argument("--only", nargs="*", choices=[*FUZZERS, *ATTACKS], help="these fuzzers alone")
    parser.add_argument("--index", type=int, help="one input alone, as it was reported")
    parser.add_argument("--most", type=int, default=3, help="failures of one kind that are shown")
    chosen = parser.parse_args()
    names = chosen.only or [*FUZZERS, *ATTACKS]
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    spent = dict.fromkeys(names, 0.0)
    started = time.monotonic()
    with Room() as room:
        while (now := time.monotonic()) - started < chosen.seconds:
            name = min(spent, key=spent.__getitem__)
            index = tried[name] if chosen.index is None else chosen.index
            line, wrong = try_one(room, name, f"{chosen.seed}/{index}")
            tried[name] += 1
            spent[name] += time.monotonic() - now
            if wrong:
                failed[name] += 1
                kind = f"{name}: {_kind(wrong[0])}"
                kinds[kind] += 1
                if kinds[kind] <= chosen.most:
                    print(f"{name} --seed {chosen.seed} --index {index}: {line}")
                    print(*(f"    {one}" for one in wrong), sep="\n", flush=True)
            if chosen.index is not None:
                break
    seconds = time.monotonic() - started
    print(f"{sum(tried.values())} inputs in {seconds:.0f} s, {sum(failed.values())} with something wrong")
    for name in names:
        print(f"  {name:12} {tried[name]:8} {failed[name]:6}")
    for kind, times in kinds.most_common():
        print(f"{times:6}  {kind}")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
