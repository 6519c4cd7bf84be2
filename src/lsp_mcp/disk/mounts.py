"""Folders that are separate file systems, including those that other machines write to without events here."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct

# Without fuseblk: a local disk whose writes all go through this kernel.
_NETWORK = re.compile(
    r"9p|afs|ceph|cifs|coda|drvfs|fuse(\..*)?|gfs2|glusterfs|gpfs|lustre|ncpfs|nfs4?|ocfs2|orangefs|pvfs2"
    r"|prl_fs|smb3|smbfs|vboxsf|virtiofs|vmhgfs"
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(root: str) -> str | None:
    """The type of the network or shared file system that contains `root`, or None.

    Also None without /proc.
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        return network_mount(str(Path(root).resolve()), mounts)
    except OSError:
        return None


def network_mount(folder: str, mountinfo: str) -> str | None:
    """The type of the network file system that contains the resolved `folder`, by the text of /proc/self/mountinfo."""
    holder = _holder(folder, _mounts(mountinfo))
    return holder.type if holder and _NETWORK.fullmatch(holder.type) else None


def mounts_below(root: str) -> dict[str, str]:
    """The folders below `root` on other file systems, with their types.

    Their paths are spelled like `root`. Empty without /proc.
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        real = str(Path(root).resolve())
    except OSError:
        return {}
    found = other_mounts(real, mounts)
    return {root.rstrip("/") + path[len(real.rstrip("/")) :]: type_ for path, type_ in found.items()}


def other_mounts(folder: str, mountinfo: str) -> dict[str, str]:
    """The folders below the resolved `folder` on other file systems, by the text of /proc/self/mountinfo.

    A bind mount of the same file system does not count.
    """
    mounts = _mounts(mountinfo)
    holder, below = _holder(folder, mounts), folder.rstrip("/") + "/"
    own = holder.device if holder else ""
    inner = {mount.point: mount for mount in mounts if mount.point.startswith(below) and mount.point != folder}
    return {point: mount.type for point, mount in inner.items() if mount.device != own}


class _Mount(Struct, frozen=True):
    point: str
    device: str
    type: str


def _mounts(mountinfo: str) -> list[_Mount]:
    found = []
    for line in mountinfo.splitlines():
        mount, _, rest = line.partition(" - ")
        words = mount.split(" ")
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), words[4])
        found.append(_Mount(point, words[2], rest.split(" ", 1)[0]))
    return found


def _holder(folder: str, mounts: list[_Mount]) -> _Mount | None:
    """The mount that contains `folder`; of two mounts at one point the later one is on top."""
    below = folder.rstrip("/") + "/"
    holding = [mount for mount in mounts if below.startswith(mount.point.rstrip("/") + "/")]
    return max(reversed(holding), key=lambda mount: len(mount.point), default=None)
