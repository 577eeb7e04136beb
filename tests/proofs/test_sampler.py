"""The sampler that is proved, extracted, and the one that runs draw the same reports from the same bytes."""

import subprocess

import native
import numpy as np
import pytest

import mechdesign as md
from mechdesign.mechanism.claims import Parts
from mechdesign.mechanism.mechanism_files import to_json
from mechdesign.mechanism.sampler import Sampler


def drawn(folder, sampler, parts, records, seed):
    """Return what both draw for random inputs, and how many bytes were read."""
    rng, read = np.random.default_rng(seed), []

    def source(size):
        read.append(rng.bytes(size))
        return read[-1]

    codes = rng.integers(0, len(parts.numerators), records).astype(np.int64)
    ours = sampler.draw(codes, source)
    (folder / "m.json").write_bytes(to_json(parts))
    (folder / "bytes").write_bytes(b"".join(read))
    (folder / "codes").write_bytes(codes.astype(np.uint8).tobytes())
    program = native.BUILD / "pmldraws"
    command = [program, folder / "m.json", str(sampler._table_bits), folder / "bytes", folder / "codes"]
    done = subprocess.run(command, capture_output=True, check=True)
    return ours, np.frombuffer(done.stdout, dtype=np.uint8), sum(map(len, read))


@pytest.mark.slow
@pytest.mark.skipif(bool(native.LACKING), reason=native.REASON)
@pytest.mark.parametrize("bits", [1, 7, 16, 17, 33, 48, 52])
@pytest.mark.parametrize("records", [1000, 1_500_000])
def test_the_same_bytes_give_the_same_reports(bits, records, tmp_path):
    if not native.programs() or not (native.BUILD / "pmldraws").exists():
        pytest.skip("ocamlfind finds no Zarith, with which the proved sampler computes")
    rng = np.random.default_rng(bits)
    inputs, outputs = int(rng.integers(2, 20)), int(rng.integers(2, min(18, 2 << bits)))
    cuts = np.sort(rng.integers(0, 2**bits, (inputs, outputs - 1), endpoint=True), axis=1)
    rows = np.diff(cuts, prepend=0, append=2**bits)
    rows = rows[:, rows.any(axis=0)]
    everything = md.Guarantee("700", md.L1Ball([f"1/{inputs}"] * inputs, 0))
    parts = Parts(rows, bits, everything, tuple(f"y{j}" for j in range(rows.shape[1])))
    sampler = Sampler(rows, bits)
    ours, proved, read = drawn(tmp_path, sampler, parts, records, bits)
    assert np.array_equal(ours, proved)
    assert len(np.unique(ours)) > 1
    assert (read > 2 * records) == (bits > 16)  # the first bits left some records open
