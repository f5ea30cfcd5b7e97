"""The composition root: it builds everything from all packages, and nothing outlives it."""

from repro.app import Application, application
from repro.current import Slot, current, once, reset, use
from repro.data import datasets
from repro.evaluation.metrics import metrics
from repro.plugin import Plugins, plugins
from repro.protocol import registry


def test_packages_read_from_the_application_in_use():
    own = Application(Plugins())
    with use(own):
        assert application() is current() is own
        assert registry() is own.registry and metrics() is own.metrics
        assert datasets() is own.datasets and plugins() is own.plugins
    assert application() is not own


def test_without_plugins_all_that_is_left_is_of_the_suite():
    own = Application(Plugins())
    every = application()
    assert own.metrics.items() <= every.metrics.items()
    assert own.datasets.items() <= every.datasets.items()
    assert set(own.registry) <= set(every.registry)
    variants = {variant.id for metric in own.metrics.values() for variant in metric.variants}
    assert {key for key in own.registry if key.startswith("metric.")} == variants
    assert not any("/" in option.value for option in own.registry["split.strategy"].options)


def test_a_reset_builds_everything_anew():
    before = application()
    with use(before):  # puts it back afterwards
        reset()
        assert application() is not before
        assert registry() is not before.registry
    assert application() is before


def test_results_are_kept_as_long_as_the_application():
    calls = []

    @once
    def double(number):
        calls.append(number)
        return 2 * number

    slot = Slot()
    with use(Application(Plugins())):
        slot.set("here")
        assert [double(2), double(2), double(3)] == [4, 4, 6]
        assert calls == [2, 3]
    with use(Application(Plugins())):
        assert slot.get() is None
        assert double(2) == 4
    assert calls == [2, 3, 2]
