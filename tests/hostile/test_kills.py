"""Stopped at any moment, a build or a link leaves the old output, the new one or nothing; never half, never litter."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hostile.kills import SIGNALS, Target, around_renames, contents, emptied, steps, verdict, whole
from hostile.sandbox import Sandbox, Stop
from hostile.tally import Tally
from hostile.world import World, item_claim, person

SEED = 11
RANDOM_TIMES = 16
BUILDS = ("fresh", "forced", "forced through a link")
LINKS = ("links.jsonl", "links.parquet")


class Builds:
    """An old KB, a dump with one more person, and a folder where it is to be replaced."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox, self.folder, self.log = sandbox, folder / "place", folder / "log"
        self.old, self.dump = world.kb, folder / "dump.json"
        self.folder.mkdir()
        more = json.dumps(person(903, "Eve Example", P39=[item_claim("P39", 900, 2001)]))
        lines = world.dump.read_text().splitlines()
        self.dump.write_text("\n".join([*lines[:-2], lines[-2] + ",", more, "]"]) + "\n")
        whole(sandbox.run("kb", "build", self.dump, "--out", folder / "new"))
        self.new = contents(folder / "new")

    def target(self, how: str) -> Target:
        """A fresh place for one kill."""
        emptied(self.folder)
        out = self.folder / "kb"
        if how == "forced through a link":
            shutil.copytree(self.old, self.folder / "disk" / "kb")
            out.symlink_to(Path("disk") / "kb")
        elif how == "forced":
            shutil.copytree(self.old, out)
        force = () if how == "fresh" else ("--force",)
        argv = ("kb", "build", self.dump, "--out", out, *force)
        verify = ("kb", "info", out, "--verify")
        return Target(self.folder, out, argv, frozenset({"kb", "disk"}), contents(out), self.new, verify)

    def kill(self, how: str, stop: Stop, tally: Tally) -> None:
        """One kill and the run after it."""
        target = self.target(how)
        again = ("kb", "build", self.dump, "--out", target.out, "--force")
        seen, note = verdict(self.sandbox, target, stop, again)
        tally.add(seen, f"build {how}: {note}")


class Links:
    """Articles, some of them bad, and a folder where their links stand from an earlier run."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path, times: int) -> None:
        self.world, self.sandbox, self.folder, self.log = world, sandbox, folder / "place", folder / "log"
        self.folder.mkdir()
        self.articles = folder / "articles.jsonl"
        self.articles.write_text((world.articles.read_text() + '{"no": "article"}\n') * times)

    def target(self, name: str) -> Target:
        """A fresh place for one kill, with the links of fewer articles in it."""
        emptied(self.folder)
        out = self.folder / name
        own = frozenset({name, f"{name}.meta.json", f"{name}.rejects.jsonl"})
        argv = ("link", self.articles, "--kb", self.world.kb, "-o", out)
        target = Target(self.folder, out, argv, own, {}, {})
        whole(self.sandbox.run(*argv))
        new = contents(out)
        whole(self.sandbox.run("link", self.world.articles, "--kb", self.world.kb, "-o", out))
        return replace(target, old=contents(out), new=new)

    def kill(self, name: str, stop: Stop, tally: Tally) -> None:
        """One kill and the run after it."""
        target = self.target(name)
        seen, note = verdict(self.sandbox, target, stop, target.argv)
        tally.add(seen, f"link to {name}: {note}")


@pytest.fixture(scope="module")
def builds(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    return Builds(world, sandbox, tmp_path_factory.mktemp("builds"))


@pytest.fixture(scope="module")
def links(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Links:
    return Links(world, sandbox, tmp_path_factory.mktemp("links"), times=20)


@pytest.mark.parametrize("how", BUILDS)
def test_builds_killed_around_their_renames(how: str, builds: Builds, tally: Callable[[str], Tally]):
    counts = tally("killed builds")
    log = steps(builds.sandbox, builds.target(how), builds.log)
    around = list(around_renames(log)) or range(len(log) - 4, len(log))  # an exchange of folders is no rename
    for number in around:
        builds.kill(how, Stop(SIGNALS[number % 2], step=number), counts)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("how", BUILDS)
def test_builds_killed_at_every_kind_of_step(how: str, signal, builds: Builds, tally: Callable[[str], Tally]):
    """The steps around renames, the first and the last ones, and every tenth of the rest."""
    counts = tally("killed builds")
    log = steps(builds.sandbox, builds.target(how), builds.log)
    some = {*around_renames(log), *range(8), *range(len(log) - 8, len(log)), *range(0, len(log), 10)}
    for number in sorted(some):
        builds.kill(how, Stop(signal, step=number), counts)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("how", BUILDS)
def test_builds_killed_at_random_times(how: str, signal, builds: Builds, tally: Callable[[str], Tally]):
    counts = tally("killed builds")
    usual = whole(builds.sandbox.run(*builds.target(how).argv)).elapsed
    rng = random.Random(f"{SEED} {how} {signal.name}")
    for _ in range(RANDOM_TIMES):
        builds.kill(how, Stop(signal, after=rng.uniform(0, usual)), counts)
    counts.check()


def test_links_killed_around_their_renames(links: Links, tally: Callable[[str], Tally]):
    counts = tally("killed links")
    log = steps(links.sandbox, links.target(LINKS[0]), links.log)
    for number in list(around_renames(log))[:4]:
        links.kill(LINKS[0], Stop(SIGNALS[number % 2], step=number), counts)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("name", LINKS)
def test_links_killed_at_every_step(name: str, signal, links: Links, tally: Callable[[str], Tally]):
    counts = tally("killed links")
    for number in range(len(steps(links.sandbox, links.target(name), links.log))):
        links.kill(name, Stop(signal, step=number), counts)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("name", LINKS)
def test_links_killed_at_random_times(
    name: str, signal, world: World, sandbox: Sandbox, tmp_path: Path, tally: Callable[[str], Tally]
):
    counts = tally("killed links")
    links = Links(world, sandbox, tmp_path, times=200)
    usual = whole(sandbox.run(*links.target(name).argv)).elapsed
    rng = random.Random(f"{SEED} {name} {signal.name}")
    for _ in range(RANDOM_TIMES):
        links.kill(name, Stop(signal, after=rng.uniform(0, usual)), counts)
    counts.check()
