from cacheroute.agent.window import Utilisation, UtilisationWindow


def window(max_samples: int = 20) -> UtilisationWindow:
    return UtilisationWindow(window_s=5.0, max_samples=max_samples)


def test_a_window_knows_average_peak_newest_and_count() -> None:
    samples = window()

    samples.add(10, at_s=0.0)
    samples.add(90, at_s=1.0)

    assert samples.add(50, at_s=2.0) == Utilisation(
        current_pct=50,
        average_pct=50.0,
        max_pct=90,
        count=3,
    )


def test_a_sample_as_old_as_the_window_still_counts_and_an_older_one_does_not() -> None:
    samples = window()
    samples.add(100, at_s=0.0)

    assert samples.add(0, at_s=5.0).count == 2
    assert samples.add(0, at_s=5.1).max_pct == 0


def test_only_the_newest_samples_are_kept() -> None:
    samples = window(max_samples=2)
    samples.add(100, at_s=0.0)
    samples.add(1, at_s=0.1)

    assert samples.add(3, at_s=0.2) == Utilisation(
        current_pct=3, average_pct=2.0, max_pct=3, count=2
    )


def test_a_failed_reading_leaves_the_window_but_no_newest_value() -> None:
    samples = window()
    samples.add(40, at_s=0.0)

    assert samples.add(None, at_s=1.0) == Utilisation(
        current_pct=None, average_pct=40.0, max_pct=40, count=1
    )


def test_a_window_of_failures_knows_nothing() -> None:
    assert window().add(None, at_s=0.0) == Utilisation()


def test_a_window_that_ran_dry_knows_nothing() -> None:
    samples = window()
    samples.add(40, at_s=0.0)

    assert samples.add(None, at_s=6.0) == Utilisation()
