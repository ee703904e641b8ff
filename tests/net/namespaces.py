"""Network namespaces joined by veth pairs and bridges: hosts, switches and links that can be taken down."""

import os
import shutil
import subprocess
import sys


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def why_not():
    """Why namespaces cannot be made here; empty: they can."""
    if not sys.platform.startswith("linux") or shutil.which("ip") is None:
        return "network namespaces want Linux and the `ip` command"
    name = f"oc-probe-{os.getpid()}"
    try:
        ip("netns", "add", name)
        try:
            ip("-n", name, "link", "add", "name", "bridge0", "type", "bridge")
            ip("-n", name, "link", "add", "name", "veth0", "type", "veth", "peer", "name", "veth1")
            ip("netns", "exec", name, "true")
        finally:
            ip("netns", "delete", name)
    except (subprocess.CalledProcessError, OSError) as error:
        return f"network namespaces may not be made here: {(getattr(error, 'stderr', '') or str(error)).strip()}"
    return ""


class Wires:
    """A topology made of namespaces.  Every switch is a bridge; the k-th host has the address 10.77.0.(k + 1)."""

    def __init__(self, topology):
        self.topology, self.made = topology, []
        self.prefix = f"oc{os.getpid()}-"
        self.ends = {link.name: (link.a, link.b) for link in topology.links}
        self.device = {link.name: f"l{k}" for k, link in enumerate(topology.links)}

    def name(self, site):
        return self.prefix + site

    def address(self, host):
        return f"10.77.0.{self.topology.hosts.index(host) + 1}"

    def __enter__(self):
        try:
            for site in (*self.topology.hosts, *self.topology.switches):
                ip("netns", "add", self.name(site))
                self.made.append(site)
            for switch in self.topology.switches:
                ip("-n", self.name(switch), "link", "add", "name", "bridge0", "type", "bridge", "forward_delay", "0")
                ip("-n", self.name(switch), "link", "set", "dev", "bridge0", "up")
            for link in self.topology.links:
                self._wire(link)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _wire(self, link):
        device = self.device[link.name]
        a, b = self.name(link.a), self.name(link.b)
        ip("-n", a, "link", "add", "name", device, "type", "veth", "peer", "name", device, "netns", b)
        for site in (link.a, link.b):
            if site in self.topology.switches:
                ip("-n", self.name(site), "link", "set", "dev", device, "master", "bridge0")
            else:
                ip("-n", self.name(site), "address", "add", f"{self.address(site)}/24", "dev", device)
                ip("-n", self.name(site), "link", "set", "dev", "lo", "up")
            ip("-n", self.name(site), "link", "set", "dev", device, "up")

    def __exit__(self, *_):
        for site in self.made:
            subprocess.run(["ip", "netns", "delete", self.name(site)], check=False, capture_output=True)

    def set(self, link, state):
        """Take a link up or down, at both ends."""
        for site in self.ends[link]:
            ip("-n", self.name(site), "link", "set", "dev", self.device[link], state)

    def start(self, host, *words, **more):
        """A process on a host."""
        return subprocess.Popen(["ip", "netns", "exec", self.name(host), *words], **more)
