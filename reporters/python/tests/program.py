"""Programs with a watched client that tests start.

Arguments: a name, the ports of the provider and of Backstop, the folder of the spool or an empty text.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

from libraries import open_stripe

from backstop_reporter import watch

name, provider_port, backstop_port, folder = sys.argv[1:]
stripe = open_stripe(f"http://127.0.0.1:{provider_port}")
reporter = watch(
    stripe,
    base_url=f"http://127.0.0.1:{backstop_port}",
    key="k",
    connection_id="con_1",
    spool_folder=folder or None,
    on_problem=lambda problem: None,
)


def refund(charge: str) -> None:
    """Makes a call in a thread of its own, because the library has a connection for each thread."""
    answers: list[object] = []
    thread = threading.Thread(target=lambda: answers.append(stripe.refunds.create({"charge": charge})))
    thread.start()
    thread.join()
    assert answers, "The call failed"


def fork(work: Callable[[], None]) -> int:
    """Runs work in a forked process, which ends as a process of its own."""
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    return child


def wait_for(children: list[int]) -> None:
    for child in children:
        _, status = os.waitpid(child, 0)
        assert status == 0, f"A child ended with {status}"


def prefork() -> None:
    """A server that makes a call, and forks workers that make calls."""
    refund("ch_parent")
    counts = [f"ch_{worker}" for worker in range(3)]

    def work(charge: str) -> None:
        assert reporter.status().delivered == 0
        for _ in range(5):
            refund(charge)
        assert reporter.flush()
        assert reporter.status().delivered == 10, reporter.status()
        assert any(f".{os.getpid()}." in file for file in os.listdir(folder)), os.listdir(folder)

    wait_for([fork(lambda charge=charge: work(charge)) for charge in counts])  # type: ignore[misc]
    assert reporter.flush()
    assert reporter.status().delivered == 2, reporter.status()


def busy() -> None:
    """Forks while threads report, so that locks are held at the fork."""
    refund("ch_first")
    is_over = threading.Event()

    def call() -> None:
        while not is_over.is_set():
            refund("ch_thread")

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()

    def work() -> None:
        refund("ch_child")
        assert reporter.flush()
        # The end of the interpreter would wait for locks of urllib3 that the threads held at the fork.
        os._exit(0)

    children = [fork(work) for _ in range(20)]
    wait_for(children)
    is_over.set()
    for thread in threads:
        thread.join()


if name == "prefork":
    prefork()
elif name == "busy":
    busy()
else:
    refund("ch_1")
