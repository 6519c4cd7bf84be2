"""Which folders lie on file systems that other machines write to: the kernel has no events for those."""

from __future__ import annotations

import re
from pathlib import Path

# fuseblk is left out: a local disk whose writes all go through this kernel.
_NETWORK = re.compile(
    r"9p|afs|ceph|cifs|coda|drvfs|fuse(\..*)?|gfs2|glusterfs|gpfs|lustre|ncpfs|nfs4?|ocfs2|orangefs|pvfs2"
    r"|prl_fs|smb3|smbfs|vboxsf|virtiofs|vmhgfs"
)
_OCTAL = re.compile(r"\\([0-7]{3})")


def network_file_system(root: str) -> str | None:
    """The type of the network or shared file system that `root`, or a folder below it, lies on, or None.

    None as well where there is no /proc.
    """
    try:
        mounts = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
        return network_mount(str(Path(root).resolve()), mounts)
    except OSError:
        return None


def network_mount(folder: str, mountinfo: str) -> str | None:
    """The same for a resolved `folder`, by the text of /proc/self/mountinfo (proc(5))."""
    below = folder.rstrip("/") + "/"
    holder, holder_type = "", ""
    inner_type = None
    for line in mountinfo.splitlines():
        mount, _, rest = line.partition(" - ")
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), mount.split(" ")[4])
        type_ = rest.split(" ", 1)[0]
        # Of two mounts at one point the later one is on top.
        if below.startswith(point.rstrip("/") + "/") and len(point) >= len(holder):
            holder, holder_type = point, type_
        elif point.startswith(below) and _is_network(type_):
            inner_type = type_
    return holder_type if _is_network(holder_type) else inner_type


def _is_network(type_: str) -> bool:
    return _NETWORK.fullmatch(type_) is not None
