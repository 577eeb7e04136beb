from figures import frequencies
from figures.lib.style import WEAKER


def test_estimates_are_near_the_truth_and_the_least_error_has_the_shortest_intervals():
    table = frequencies.compute(quick=True)
    widths = {}
    for name in frequencies.NAMES:
        rows = [row for row in table if row["mechanism"] == name]
        assert abs(sum(row["estimate"] for row in rows) - 1) < 1e-9
        for row in rows:
            assert row["lower"] <= row["estimate"] <= row["upper"]
            # The seed is fixed. Twice the interval is passed once in ten thousand.
            assert abs(row["true"] - row["estimate"]) <= 2 * (row["upper"] - row["lower"])
        widths[name] = sum(row["upper"] - row["lower"] for row in rows)
    least, informative, randomized = (widths[name] for name in frequencies.NAMES)
    assert least < informative < randomized
    figure = frequencies.draw(table)
    legend = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert figure.axes[0].get_legend().get_title().get_text() == WEAKER
    assert set(legend) == {"true frequency", *frequencies.NAMES}
