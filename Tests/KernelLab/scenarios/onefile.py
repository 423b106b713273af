# SPDX-License-Identifier: GPL-2.0-or-later
#
# The fully static build of the product, on a system with nothing but this file and BusyBox.

from __future__ import annotations

from bench import BINARY, OPEN, Bench
from readers import Terminal
from scenarios import scenario
from scenarios.keys import type_scans
from waiting import expect

ROOT = "/run/lab/one-file"
UNAVAILABLE = 69


@scenario("one-file", deadline=240, once=True)
async def one_file(bench: Bench) -> None:
    """X-15: in a root with only the fully static program and BusyBox: demo, doctor, and 200 barcodes typed byte for byte."""
    run = bench.guest.run
    static = bench.machine.beside("blewedge-static")
    folders = " ".join(f"{ROOT}/{name}" for name in ("bin", "dev", "proc", "sys", "tmp", "run/lab", "var/lib", "etc"))
    await run("sh", "-c", f"mkdir -p {folders} && cp $(command -v busybox) {ROOT}/bin/ && ln -s busybox {ROOT}/bin/sh")
    await run("install", "-m", "755", f"/run/host{static}", ROOT + BINARY, seconds=60)
    files = (await run("find", ROOT, "-type", "f")).out.split()
    expect(sorted(files) == sorted([f"{ROOT}/bin/busybox", ROOT + BINARY]), f"the root has {files}")
    inside = ("chroot", ROOT)

    # /proc is not mounted yet, so the product cannot read its own texts, and reports this.
    lost = await run(*inside, BINARY, "demo", check=False)
    expect(lost.status == UNAVAILABLE and "mount -t proc proc /proc" in lost.err, f"without /proc: {lost.status}, {lost.err!r}")
    for name in ("proc", "sys", "dev"):
        await run("mount", "--rbind", f"/{name}", f"{ROOT}/{name}")
    try:
        demo = await run(*inside, BINARY, "demo", "--fast", "--barcodes", "200", seconds=60)
        expect("200 of 200" in demo.out, f"demo: {demo.out[-300:]!r}")
        doctor = await run(*inside, BINARY, "doctor", "--json", check=False, seconds=60)
        expect(len(doctor.objects) == 1, f"the doctor printed no object{doctor.evidence()}")
        names = {finding["id"] for finding in doctor.objects[0]["findings"]}

        terminal = await Terminal.open(bench)
        product = await bench.product("run", "--json", "--device", "LINBLE-TEST", *OPEN, before=inside)
        await product.keyboard()
        await product.state("connected", 30)
        await bench.peer.until_subscribed()
        pace = await type_scans(bench, product, terminal)
    finally:
        await run("umount", "--recursive", "--lazy", *(f"{ROOT}/{name}" for name in ("proc", "sys", "dev")), check=False)
    bench.note = f"{pace}; the doctor found {', '.join(sorted(names)) or 'nothing'}"
