"""A process that has imported namesake once and forks for each command that it is asked to run.

Requests come as JSON lines on standard input, an answer goes back for each: see `sandbox.Sandbox`. Forking takes
milliseconds where a new interpreter takes seconds, and a child that crashes takes nobody with it.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import pkgutil
import resource
import runpy
import signal
import sys
import threading
import time
import traceback
from importlib.metadata import entry_points
from typing import Any

STEPS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "shutil.rmtree", "fcntl.flock"}
"""Audit events that change what is on the disk; so does `open` for writing."""
POLL = 0.002


def preload() -> Any:
    """Import every module of namesake that imports here, and return the function behind the command `namesake`.

    Not the pipe of spaCy: no command uses it, and spaCy's memory would count as the command's.
    """
    import namesake

    for module in pkgutil.walk_packages(namesake.__path__, "namesake.", onerror=lambda _: None):
        if module.name.startswith("namesake.apps.spacy"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue  # an extra that is not installed
    [entry] = entry_points(group="console_scripts", name="namesake")
    command = entry.load()
    sys.argv = ["namesake", "--version"]
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        command()  # what the command line itself imports at its first use
    return command


def watch_steps(log: str | None, stop_at: int | None, stop_signal: int) -> None:
    """Write each step that changes the disk to `log`; before the step number `stop_at`, send ourselves a signal."""
    handle = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    count = 0
    writes = os.O_WRONLY | os.O_RDWR

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        writing = event == "open" and isinstance(arguments[0], (str, bytes)) and arguments[2] & writes
        if not writing and event not in STEPS:
            return
        if count == stop_at:
            count += 1
            os.kill(os.getpid(), stop_signal)
            return
        count += 1
        os.write(handle, f"{event} {arguments[:2]}\n".encode())

    sys.addaudithook(hook)


def child(request: dict[str, Any], command: Any) -> None:
    """Run one command in this forked process, and leave it."""
    os.setsid()
    os.chdir(request["cwd"])
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if request["stdin"] is None:
        os.close(0)
        sys.stdin = None  # as Python has it where standard input is closed
    else:
        os.dup2(os.open(request["stdin"], os.O_RDONLY), 0)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - the old one has read ahead in the requests
    os.environ.update(request["env"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if request["memory"]:
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], request["memory"]))
    if request["file_size"]:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["file_size"], request["file_size"]))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = ["namesake", *request["argv"]]
    stop = request["stop"]
    if request["log"] or (stop and "step" in stop):
        watch_steps(request["log"], stop and stop.get("step"), stop["signal"] if stop else 0)
    code = 1
    try:
        if request["program"]:
            runpy.run_path(request["program"], run_name="__main__")
        else:
            command()
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def attend(pid: int, request: dict[str, Any]) -> dict[str, Any]:
    """Wait for a child, send it the signal it is to get, and end it when its time is over."""
    began = time.monotonic()
    stop = request["stop"]
    due = began + stop["after"] if stop and "after" in stop else None
    hang = False
    while True:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        now = time.monotonic()
        if ended:
            break
        if due is not None and now >= due:
            os.kill(pid, stop["signal"])
            due = None
        if now - began > request["seconds"] and not hang:
            hang = True
            os.killpg(pid, signal.SIGKILL)
        time.sleep(POLL)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hang": hang,
        "elapsed": now - began,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss << 10,
    }


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an import prints must not mix with the answers
    command = preload()
    assert threading.active_count() == 1, "namesake starts threads when imported: forking is not safe"
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            child(request, command)
        print(json.dumps(attend(pid, request)), file=answers, flush=True)


if __name__ == "__main__":
    main()
