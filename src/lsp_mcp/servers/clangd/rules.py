"""What clangd 22.1 needs to compile and index: compilation databases, compiler options, system headers."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct


class Compilation(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The compilation database of a server that indexes the files listed there, and where it keeps that index.

    Such a server reads a changed file, and the files that include it, again only when it is opened.
    """

    database: str  # the database's file name
    folders: tuple[str, ...]  # where builds put it: globs below the root or a folder above it, in order of preference
    own_folders: tuple[str, ...]  # where the server looks by itself, in each folder above a file
    argument: str  # makes the server use the database in {folder}
    index_folder: str  # the index, relative to the database's folder
    shard_pattern: str  # the name of an index file: group 1 is the name of its source file
    include_pattern: str  # an include line: group 1 is the path as written
    how_to_get: str  # how to create the database, for people
    library_folders: tuple[str, ...] = ()  # absolute globs of system headers, which never include workspace files
    library_pattern: str = "(?!)"  # such headers by the path as written, wherever they are
    index_version: int = 0  # of its form, if `servers/clangd/compilation/index_file.py` can read it; 0: it is not read
    flags: str = ""  # a file of compiler flags, one per line, used for every file if there is no database
    compiled_extensions: tuple[str, ...] = ()  # which files are compiled in that case, rather than only included
    config_files: tuple[str, ...] = ()  # names of the server's own files about compile flags
    user_files: tuple[str, ...] = ()  # the user's such files: absolute paths, with ~ and $VARIABLE
    variables: tuple[str, ...] = ()  # environment variables that the compiler reads
    folder_option_pattern: str = ""  # compiler options whose argument is a folder of headers
    include_options: tuple[str, ...] = ()  # compiler options whose argument is a file to include first
    # The initialization option with flags for files of which none are known; the folders that these may include from.
    guess_setting: str = ""
    guess_options: tuple[str, ...] = ()
    usual_folders: tuple[str, ...] = ()  # in the root
    added_flags: tuple[str, ...] = ()  # compiler flags added for each file; flags of the build take precedence

    # Put before the text of a compiled file, it makes the server diagnose included files as fully as the file itself.
    whole_prefix: str = ""
    whole_unless: str = ""  # texts that cannot be prefixed so
    module_pattern: str = "(?!)"  # in the text of a file that others import
    module_argument: str = ""  # makes the server build the modules that files import
    module_database: str = "(?!)"  # in a database with files that are modules by their names, and no built ones
    stopped_code: str = ""  # code of the error that means that further errors were not reported
    load_most: int = 0  # more files than that are not opened one by one: another server indexes them

    def compiles(self, path: Path) -> bool:
        """Whether `path` is compiled by itself rather than only included, judged by its name."""
        return path.suffix in self.compiled_extensions


# The compilation database says which files are compiled, and how. clangd reads none of them again because it is told
# that it changed: only when it is opened.
COMPILATION = Compilation(
    # Starting clangd again with the index of so many files removed is quicker than opening each.
    load_most=24,
    # What a document includes at its top it reads apart: without the bodies of functions, so that it sees no error in
    # them, nor in templates that are instantiated below. The top ends at the first line that is not a directive.
    whole_prefix=";",
    whole_unless=r"(?m)^[ \t]*(?:export[ \t]+)?module\b",
    module_pattern=r"(?m)^[ \t]*(?:export[ \t]+)?module[ \t]+\w[\w.:]*[ \t]*(?:\[\[[^;\n]*)?;",
    # Without it clangd 22 knows no module but those that commands name, as built.
    module_argument="--experimental-modules-support",
    module_database=r"""(?s)(?!.*(?:-fmodule-file=|\.modmap\b)).*\.(?:cppm|ixx|ccm|cxxm|c\+\+m)\"""",
    # The twenty-first error, wherever the others are, if the build or an editor says how files are compiled.
    stopped_code="fatal_too_many_errors",
    database="compile_commands.json",
    # Where builds put it, below the root or below a folder above it; of several in one place the newest counts.
    folders=(
        ".",
        "build",
        "build*",
        "build/*",
        "out",
        "out/*",
        "cmake-build-*",
        "builddir",
        "_build",
        "bin",
        "Debug",
        "Release",
        "target",
        ".build",
    ),
    own_folders=(".", "build"),
    flags="compile_flags.txt",
    config_files=(".clangd",),
    user_files=(
        "$XDG_CONFIG_HOME/clangd/config.yaml",
        "~/.config/clangd/config.yaml",
        "~/Library/Preferences/clangd/config.yaml",
    ),
    variables=(
        "CPATH",
        "C_INCLUDE_PATH",
        "CPLUS_INCLUDE_PATH",
        "OBJC_INCLUDE_PATH",
        "OBJCPLUS_INCLUDE_PATH",
        "SDKROOT",
        "COMPILER_PATH",
        "GCC_EXEC_PREFIX",
    ),
    compiled_extensions=(".c", ".cpp", ".cc", ".cxx", ".c++", ".C", ".cppm", ".ixx"),
    argument="--compile-commands-dir={folder}",
    # In the folder that it was named, else in the one above a database that it found by itself; a file for each source.
    index_folder=".cache/clangd/index",
    shard_pattern=r"(.+)\.[0-9A-F]+\.idx",
    # That of clangd 22: what else has the name that is asked about is looked up there before a file is opened for it.
    index_version=20,
    # Group 1: the file as it is spelled, empty if a macro names it. A module may be any file: `import math;`, and
    # `module math;`, which imports what that exports.
    include_pattern=r"^[ \t]*(?:/\*(?:[^*\n]|\*(?!/))*\*/[ \t]*)*(?:#[ \t]*(?:include_next|include|import)\b|(?:expo"
    r'rt[ \t]+)?import(?=[ \t]*["<]|[ \t]*:[ \t]*\w|[ \t]+\w[^;"<>(){}=\n]*;)|module(?=[ \t]+\w[\w.:]*[ \t]*;))'
    r'[ \t]*(?:["<]([^">\n]+)[">])?',
    library_folders=(
        "/usr/include",
        "/usr/include/*-linux-*",
        "/usr/include/c++/*",
        "/usr/local/include",
        "/usr/lib/gcc/*/*/include",
        "/usr/lib/llvm-*/lib/clang/*/include",
        "/Library/Developer/CommandLineTools/SDKs/MacOSX.sdk/usr/include",
        "/Library/Developer/CommandLineTools/usr/lib/clang/*/include",
    ),
    # The standard library's of C++ and C, and those of other systems and processors, which are not on this machine.
    library_pattern=r"""(?x)[a-z_]+
|(?:sys|net|netinet|netpacket|arpa|linux|asm|machine|mach|mach-o|bits|android|libkern|CoreFoundation|CoreServices|Carbon)/[\w./-]+\.h
|(?:assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|locale|math|setjmp|signal|std\w+|string|tgmath|threads|time
|uchar|wchar|wctype
|aio|alloc|alloca|byteswap|cpuid|dirent|dlfcn|endian|err|execinfo|fcntl|features|fnmatch|ftw|getopt|glob|grp|iconv|ieeefp|ifaddrs|langinfo
|libgen|libproc|malloc|memory|mqueue|netdb|poll|pthread|pthread_np|pwd|regex|sched|search|semaphore|spawn|strings|syslog
|termios|ucontext|unistd|utime|wordexp|xlocale
|Availability|AvailabilityMacros|TargetConditionals
|[Ww]indows|[Ww]in[Ss]ock2?|winapifamily|winternl|winioctl|windowsx|ws2tcpip|ws2def|shlobj|shlwapi|psapi|dbghelp|tlhelp32|wincrypt|bcrypt
|io|conio|corecrt|crtdbg|direct|dos|fibersapi|intrin|mbstring|mem|process|sal|sdkddkver|share|tchar|versionhelpers
|unixio|unixlib|starlet|stat|unix|proto/exec
|[a-z]{1,2}mmintrin|x86intrin|x86gprintrin|arm_(?:acle|neon|sve)|altivec|riscv_vector|wasm_simd128)\.h""",
    # Else it stops at the twentieth error of a file and what that includes.
    added_flags=("-ferror-limit=0",),
    folder_option_pattern=r"-(?:I|isystem|iquote|idirafter)",
    guess_setting="fallbackFlags",
    # `<version>` is that of the standard library, even if a project has a file of that name.
    guess_options=("-iquote", "-idirafter"),
    usual_folders=("include", "src", "."),
    include_options=("-include", "-imacros", "-include-pch"),
    how_to_get="""CMake: cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; Meson writes it into its build folder; \
Bazel: hedron_compile_commands; Make and others: bear -- make""",
)
