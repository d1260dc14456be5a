"""The studio in a real Chromium: how soon functions follow a change, first paint, pictures a second, what they cost.

    python benchmarks/studio.py            needs porbnet[studio], playwright and a Chromium

Cost is told twice: sweeps per second on the clock, live against bare, in turns; and the CPU seconds of everything that
is not a chain, over those of the chains and over those of two cores, which other work on the machine disturbs less.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
from playwright.sync_api import sync_playwright

CHANGES, SECONDS, TURNS = 80, 8.0, 3
ADDRESS = re.compile(r"http\S+")
CHANGE = """(i) => { const box = document.getElementById("amplitude"); box.value = 2 + Math.sin(i / 5);
    box.dispatchEvent(new Event("input")); }"""
DRAG = """(i) => { const form = studio.state.form; form.lengthscale.knots[2][1] = 1 + 0.5 * Math.sin(i / 5);
    const box = document.getElementById("bias"); box.value = 0; box.dispatchEvent(new Event("input")); }"""
LEARNED = {
    "lengthscale": "learned", "amplitude": "learned", "noise": "learned", "bias": "auto", "region": "auto",
    "units_per_lengthscale": "auto",
}  # fmt: skip


def latency(page, script):
    """Milliseconds from a change to functions on the screen: median and 95 % point."""
    page.evaluate("studio.timings.length = 0")
    for i in range(CHANGES):
        page.evaluate(script, i)
        page.wait_for_timeout(100)
    page.wait_for_timeout(500)
    times = sorted(page.evaluate("studio.timings"))
    return statistics.median(times), times[int(0.95 * len(times))], len(times)


def bare(seconds):
    """Sweeps per second, and per CPU second of the chains, of two chains without anybody who looks."""
    from porbnet.studio.live_fit import LiveFit
    from porbnet.studio.rows import Reader, Source
    from porbnet.studio.running import Running
    from porbnet.studio.statement_form import Form

    rows = Reader().rows(Source("example", "heartrate"), [], [])
    fit = LiveFit(rows, Form.of(LEARNED), Running(n_draws=10**6, n_warmup=500), lambda fit: None)
    fit._make()
    for chain in fit._chains:
        chain.advance(200)
    before, cpu, began = sum(c.n_sweeps for c in fit._chains), [0.0, 0.0], time.monotonic()

    def run(i):
        started = time.thread_time()
        while time.monotonic() - began < seconds:
            fit._chains[i].advance(40)
        cpu[i] = time.thread_time() - started

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = sum(c.n_sweeps for c in fit._chains) - before
    return made / (time.monotonic() - began), made / sum(cpu)


def cpu_of(process):
    """CPU seconds of a process and all it has begun."""
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        try:
            times = one.cpu_times()
            total += times.user + times.system
        except psutil.NoSuchProcess:
            pass
    return total


def live(page, server, browser, seconds):
    """Pictures and sweeps per second of a fit that is watched, and shares of CPU by whom."""
    worker = psutil.Process(server.pid).children()[0]
    page.evaluate("studio.frames.length = 0")
    page.click("#fit")
    page.wait_for_selector("html[data-phase=running]", state="attached", timeout=120_000)
    page.wait_for_timeout(2000)
    page.evaluate("studio.frames.length = 0")
    first = page.evaluate("[studio.shown.fit.sweeps, studio.shown.fit.seconds, studio.shown.fit.publishing]")
    server_cpu = psutil.Process(server.pid).cpu_times()
    before = [server_cpu.user + server_cpu.system, cpu_of(worker), cpu_of(browser)]
    page.wait_for_timeout(1000 * seconds)
    last = page.evaluate("[studio.shown.fit.sweeps, studio.shown.fit.seconds, studio.shown.fit.publishing]")
    server_cpu = psutil.Process(server.pid).cpu_times()
    spent = [server_cpu.user + server_cpu.system, cpu_of(worker), cpu_of(browser)]
    used = [b - a for a, b in zip(before, spent, strict=True)]
    frames = page.evaluate("studio.frames")
    if page.is_disabled("#stop"):
        raise SystemExit(f"the fit does not run: {page.inner_text('#fit-words')} {page.inner_text('#alert')}")
    page.click("#stop")
    page.wait_for_selector("html[data-phase=stopped]", state="attached", timeout=60_000)
    chains = used[1] - (last[2] - first[2])
    return {
        "frames": (len(frames) - 1) / (frames[-1] - frames[0]) * 1000,
        "sweeps": (last[0] - first[0]) / (last[1] - first[1]),
        "per_cpu": (last[0] - first[0]) / chains,
        "publisher": (last[2] - first[2]) / chains,
        "server": used[0] / chains,
        "browser": used[2] / chains,
        "of_two_cores": (last[2] - first[2] + used[0] + used[2]) / (2.0 * seconds),
    }


def main():
    command = [sys.executable, "-m", "porbnet", "studio", "--no-browser"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src"), "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    address = ADDRESS.search(server.stderr.readline())[0]
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    try:
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            page.goto(address)
            page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)
            paints = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
            print(f"first contentful paint {paints:.0f} ms after the page was asked for")
            for name, script in (("amplitude", CHANGE), ("curve of the lengthscale", DRAG)):
                median, late, n = latency(page, script)
                print(
                    f"change of the {name}: {median:.0f} ms to functions on the screen (95 %: {late:.0f}; {n} of them)"
                )
            page.select_option("#example", "heartrate")
            page.wait_for_selector("#fit:enabled")
            page.evaluate("document.getElementById('n_draws').value = 90000")
            page.evaluate("document.getElementById('from-last').checked = false")
            own = psutil.Process(os.getpid())
            processes = [p for p in own.children(recursive=True) if "chrom" in p.name()]
            root = min(processes, key=lambda p: p.create_time())
            rates = []
            for _ in range(TURNS):
                alone, seen = bare(SECONDS), live(page, server, root, SECONDS)
                rates.append((alone, seen))
                shares = ", ".join(f"{who} {seen[who]:.1%}" for who in ("publisher", "server", "browser"))
                print(
                    f"bare {alone[0]:.0f} sweeps/s; live {seen['sweeps']:.0f}, {seen['frames']:.1f} pictures/s; "
                    f"per CPU second of the chains {alone[1]:.0f} and {seen['per_cpu']:.0f}; CPU over it: {shares}; "
                    f"all three {seen['of_two_cores']:.1%} of two cores"
                )
            ratio = statistics.median(seen["sweeps"] / alone[0] for alone, seen in rates)
            print(f"live over bare, median of {TURNS} turns: {ratio:.3f}; load after: {os.getloadavg()[0]:.1f}")
            browser.close()
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
