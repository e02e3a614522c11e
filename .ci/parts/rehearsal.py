"""Imported by parts: scenes in scratch folders, in which the built binary works for a practice model that is told what
to say. Nothing of a person's own settings is read or written."""
import contextlib, hashlib, json, os, pathlib, re, shutil, signal, stat, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = os.environ.get("INTERPRETER", str(ROOT / "bin" / "interpreter"))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def wanted(part, *programs):
    """Ends the part where it cannot run: without a binary with an error, without a program with a word."""
    if not os.access(BINARY, os.X_OK):
        sys.exit(f"{part}: {BINARY} is missing; try: make build")
    for program in programs:
        if not shutil.which(program, path=PATH):
            print(f"{part}: NOT RUN: {program} is missing")
            sys.exit(0)


def script(replies, window=262144):
    """The text of a practice script: a reply is a list of (tool, arguments), or what the model says last."""
    out = [f"model practice\nwindow {window}\ncapabilities completion tools\n"]
    for reply in replies:
        out.append("reply")
        if isinstance(reply, str):
            out.append("  say " + reply)
            continue
        for tool, arguments in reply:
            out.append(f"  call {tool} {json.dumps(arguments)}")
    return "\n".join(out) + "\n"


SHELLS = {"native": ("exec_command", "cmd"), "claude-code": ("Bash", "command"), "qwen-code": ("run_shell_command", "command")}


def shell(harness, command, **more):
    """A call of the harness's shell tool."""
    tool, key = SHELLS[harness]
    arguments = {key: command, **more}
    if harness != "native":
        arguments.setdefault("description", "Do as told")
    if harness == "qwen-code":
        arguments.setdefault("is_background", False)
    return tool, arguments


class Run:
    """One run of the program and what came of it."""

    def __init__(self, code, out, err, seconds, peak):
        self.code, self.out, self.err, self.seconds, self.peak = code, out, err, seconds, peak  # peak in MiB


class Scene:
    """A scratch folder with a person's home, the agent's home in it, a repository and something beside it."""

    def __init__(self, part):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"interpreter-{part}.", dir="/var/tmp"))  # not /tmp, which workspace-write may write
        self.person, self.repo, self.beside = self.work / "person", self.work / "repo", self.work / "beside"
        self.home = self.person / ".openinterpreter"
        for folder in (self.home, self.repo, self.beside):
            folder.mkdir(parents=True)
        self.env = {"PATH": PATH, "HOME": str(self.person), "LANG": "C.UTF-8", "SHELL": "/bin/bash", "INTERPRETER_HOME": str(self.home)}
        self.server = None

    def git(self, *args):
        subprocess.run(["git", "-c", "init.defaultBranch=main", "-c", "user.name=p", "-c", "user.email=p@example.invalid", *args],
                       cwd=self.repo, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def rehearse(self, replies):
        """Serves a script."""
        self.silence()
        path = self.work / "script.practice"
        path.write_text(script(replies))
        self.server = subprocess.Popen([BINARY, "practice", "serve", str(path), "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True, env=self.env)
        line = self.server.stdout.readline()
        found = re.match(r"listening on (\S+)", line)
        if not found:
            raise RuntimeError(f"the practice server said {line!r}")
        self.env["OLLAMA_HOST"] = found.group(1)

    def silence(self):
        if self.server:
            self.server.kill()
            self.server.wait()
            self.server.stdout.close()
            self.server = None

    def run(self, *args, prompt="do what the README says", limit=60, stdin=subprocess.DEVNULL, screen=None, keep=1 << 22, before=None):
        """Runs exec; its own peak of memory is read from /proc while it lives, since that of time counts its children.
        screen is a descriptor that takes the place of both outputs."""
        out, err = tempfile.TemporaryFile(dir=self.work), tempfile.TemporaryFile(dir=self.work)
        began = time.monotonic()
        p = subprocess.Popen([BINARY, "exec", "--oss", "--local-provider", "ollama", "-m", "practice", *args, prompt], cwd=self.repo, env=self.env,
                             stdin=stdin, stdout=screen or out, stderr=screen or err, preexec_fn=before, start_new_session=before is None)
        peak = 0
        ended = None
        with contextlib.closing(open(f"/proc/{p.pid}/status")) as status:
            while ended is None:
                try:
                    status.seek(0)
                    found = re.search(r"VmHWM:\s+(\d+)", status.read())
                    peak = max(peak, int(found.group(1)) if found else 0)
                except OSError:
                    pass
                ended = p.poll()
                if time.monotonic() - began > limit:
                    p.kill()
                    p.wait()
                    ended = "late"
                time.sleep(0.02)
        seconds = time.monotonic() - began
        texts = []
        for f in (out, err):
            f.seek(0)
            texts.append(f.read(keep))
            f.close()
        return Run(ended, *texts, seconds, peak / 1024)

    def events(self):
        """What the newest session keeps, a list of (type, payload)."""
        files = sorted(self.home.glob("sessions/**/*.jsonl"), key=lambda p: p.stat().st_mtime_ns)
        return [(e["type"], e["payload"]) for e in map(json.loads, files[-1].read_text().splitlines())] if files else []

    def told(self):
        """What the model was told of each call: id of the call to text."""
        return {p["call_id"]: p.get("words", "") for kind, p in self.events() if kind == "did"}

    def close(self):
        self.silence()
        for pid in living(str(self.work)):  # what should not be there ends with the scene all the same
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.work, ignore_errors=True)


def living(mark):
    """The processes whose command line, environment or folder holds a text, this one not."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            where = os.readlink(f"/proc/{pid}/cwd")
            told = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() + pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            if mark in where or mark.encode() in told:
                found.append(int(pid))
    return found


def checksum(*folders, but=()):
    """What every entry below folders is: path to mode, owner, and content or target. but are paths to leave out."""
    left_out, lines = {str(path) for path in but}, {}

    def note(path):
        info, text = os.lstat(path), ""
        if stat.S_ISLNK(info.st_mode):
            text = os.readlink(path)
        elif stat.S_ISREG(info.st_mode):
            text = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
        lines[path] = f"{info.st_mode:o} {info.st_uid} {text}"

    for folder in map(str, folders):
        note(folder)
        for at, dirs, files in os.walk(folder):
            dirs[:] = sorted(d for d in dirs if os.path.join(at, d) not in left_out)
            for name in dirs + files:
                if os.path.join(at, name) not in left_out:
                    note(os.path.join(at, name))
    return lines


def changes(before, after):
    """The paths that differ between two checksums, with what happened to them."""
    out = []
    for path in sorted(before.keys() | after.keys()):
        if before.get(path) != after.get(path):
            out.append(("new: " if path not in before else "gone: " if path not in after else "changed: ") + path)
    return out
