from figures import education


def test_the_picture_shows_three_mechanisms_in_the_order_of_their_information():
    table = education.compute(quick=True)
    information = list(dict.fromkeys((row["mechanism"], row["mutual_information"]) for row in table))
    assert [name for name, _ in information] == [
        "optimal under PML",
        "optimal under LDP",
        "randomized response (LDP)",
    ]
    values = [value for _, value in information]
    assert values[0] > values[1] >= values[2] > 0
    for name, _ in information:
        rows = [row for row in table if row["mechanism"] == name]
        for label in {row["input"] for row in rows}:
            assert sum(row["probability"] for row in rows if row["input"] == label) == 1
    figure = education.draw(table)
    assert [axis.get_title().splitlines()[0] for axis in figure.axes[:3]] == [name for name, _ in information]
