"""A disk that is full at output and at resume: one line, exit code 2, nothing lost, nothing half-written."""

import subprocess

import pytest
from click.testing import CliRunner

from fujiscore.cli import fuji as command

KILOBYTE = 1024


@pytest.fixture
def disk(tmp_path):
    """Return a function that makes a small disk of some kilobytes."""
    mounted = []

    def make(kilobytes):
        place = tmp_path / f"disk{len(mounted)}"
        place.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", place]
        try:
            made = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        except OSError:
            made = False
        if not made:
            pytest.skip("only an administrator can mount a disk")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", place], check=True)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Return a folder with a file of rankings and one of data."""
    place = tmp_path_factory.mktemp("inputs")
    scores = "".join(f"gene{i},{(i * 7919) % 1009},{(i * 104729) % 997}\n" for i in range(2000))
    (place / "scores.csv").write_text("item,a,b\n" + scores)
    data = "".join(f"{i % 7},{i * i % 11},{i * 31 % 13},{'xyz'[i % 3]}\n" for i in range(120))
    (place / "data.csv").write_text("a,b,c,class\n" + data)
    return place


def fuji(*arguments):
    """Run a command."""
    return CliRunner().invoke(command, list(map(str, arguments)))


def fill(disk, spare=0):
    """Fill a disk but for some kilobytes."""
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * KILOBYTE)
        except OSError:
            pass
        file.truncate(max(0, file.tell() - spare * KILOBYTE))


def refused(result):
    """Require one line that names the cause, and exit code 2."""
    assert result.exit_code == 2, result
    assert "No space left on device" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", ["--out", "--plot"])
@pytest.mark.parametrize("spare", [0, 8])
def test_a_report_or_figure(disk, inputs, option, spare):
    place = disk(64)
    target = place / ("r.csv" if option == "--out" else "r.png")
    target.write_text("old")
    fill(place, spare)
    refused(fuji("compare", inputs / "scores.csv", option, target, "--force", "--quiet"))
    assert target.read_text() == "old"
    assert sorted(path.name for path in place.iterdir()) == ["filler", target.name]


STUDY = ("--target", "class", "--method", "relief", "--resamples", "4", "--permutations", "9", "--quiet")


def test_a_study_at_every_stage(disk, inputs, tmp_path):
    whole = tmp_path / "whole"
    assert fuji("study", inputs / "data.csv", *STUDY, "--out", whole).exit_code == 0
    names = sorted(path.name for path in whole.iterdir())
    place = disk(400)
    out = place / "out"
    for spare in (0, 12, 24, 60):  # at the lock, at the resamples, at the tables, at the figures
        fill(place, spare)
        refused(fuji("study", inputs / "data.csv", *STUDY, "--out", out))
        assert not out.exists()
        (place / "filler").unlink()
    assert [path.name for path in place.iterdir()] == [".out.fujiscore"]  # finished resamples
    result = fuji("study", inputs / "data.csv", *STUDY[:-1], "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "resumed with 4 finished resamples" in result.stderr
    assert sorted(path.name for path in out.iterdir()) == names
    assert all((out / name).read_bytes() == (whole / name).read_bytes() for name in names)
    fill(place, 8)
    refused(fuji("study", inputs / "data.csv", *STUDY, "--fraction", "0.7", "--out", out))  # the earlier one stays
    assert all((out / name).read_bytes() == (whole / name).read_bytes() for name in names)


def test_a_checkpointed_matrix(disk, tmp_path):
    rows = (",".join(str((i * (j + 7) * 7919) % 1009) for j in range(60)) for i in range(80))
    header = ",".join(f"r{j}" for j in range(60))
    scores = tmp_path / "scores.csv"
    scores.write_text("\n".join([f"item,{header}", *(f"i{i},{row}" for i, row in enumerate(rows))]))
    whole = fuji("matrix", scores, "--csv", "--quiet")
    place = disk(48)  # of ten files of 8 kilobytes five fit
    result = fuji("matrix", scores, "--csv", "--quiet", "--checkpoint", place / "kept")
    refused(result)
    kept = {path: path.stat().st_mtime_ns for path in place.glob("kept/*.tile")}
    assert 2 <= len(kept) < 10
    assert f"{len(kept)} finished parts kept: free some space, and the same call resumes" in result.stderr
    subprocess.run(["mount", "-o", "remount,size=200k", place], check=True)
    again = fuji("matrix", scores, "--csv", "--quiet", "--checkpoint", place / "kept")
    assert (again.exit_code, again.stdout) == (0, whole.stdout)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    fill(place)
    refused(fuji("matrix", scores, "--quiet", "--checkpoint", place / "other"))
