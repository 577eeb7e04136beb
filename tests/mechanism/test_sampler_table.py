"""The table of the sampler: how large it gets, and how rarely it leaves a record open."""

import numpy as np
import pytest

from mechdesign.mechanism import sampler as sampler_module
from mechdesign.mechanism.sampler import Sampler


def flat(inputs, outputs, bits=48):
    numerators = np.full((inputs, outputs), 2**bits // outputs)
    numerators[:, 0] += 2**bits - numerators.sum(axis=1)
    return Sampler(numerators, bits)


@pytest.mark.parametrize("inputs", [1, 2, 3, 5, 8, 100])
@pytest.mark.parametrize("entries", [4, 100, 1 << 10])
def test_a_table_has_at_most_the_entries_allowed_or_one_a_row(monkeypatch, inputs, entries):
    monkeypatch.setattr(sampler_module, "_TABLE_ENTRIES", entries)
    size = flat(inputs, 30)._table.size
    assert size <= max(entries, inputs)
    assert 2 * size > min(entries, 1 << 11) or size == inputs


@pytest.mark.parametrize("outputs", [2, 3, 7, 33, 200])
def test_at_most_one_record_in_sixty_four_needs_its_other_bits(outputs):
    table = flat(2, outputs)._table
    assert (table == outputs).mean() <= 1 / 64
