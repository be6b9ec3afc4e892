/*
 * Programs that run code of their command line, and those that start others.
 */
#include "tool/tg_command.h"

#define TG_SHELL_FLAGS                                                         \
    (TG_COMMAND_IS_SHELL | TG_COMMAND_IS_STRICT | TG_COMMAND_IS_PLAIN          \
     | TG_COMMAND_IS_READER)
#define TG_SCRIPT_FLAGS (TG_COMMAND_IS_STRICT | TG_COMMAND_IS_READER)

static const tg_command_program_t tg_command_programs[] = {
    /* shells */
    { .names = "sh bash rbash dash ash zsh ksh mksh lksh pdksh oksh yash osh "
               "csh tcsh",
      .codes = "c",
      .values = "oO",
      .vlongs = "--rcfile --init-file --emulate",
      .flags = TG_SHELL_FLAGS,
      .remedy = TG_COMMAND_SHELL },
    { .names = "fish",
      .codes = "cC",
      .longs = "--command --init-command",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_PLAIN,
      .remedy = TG_COMMAND_ENVIRONMENT },
    { .names = "pwsh powershell",
      .longs = "-c -command -Command -EncodedCommand",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_SINGLE,
      .remedy = TG_COMMAND_ENVIRONMENT },

    /* languages */
    { .names = "python pypy ipython micropython",
      .codes = "c",
      .files = "m",
      .values = "WXQ",
      .vlongs = "--check-hash-based-pycs",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_PLAIN,
      .remedy = TG_COMMAND_PYTHON },
    { .names = "perl",
      .codes = "eE",
      .values = "I",
      .rests = "iFMmxCdDV",
      .flags = TG_SCRIPT_FLAGS,
      .remedy = TG_COMMAND_PERL },
    { .names = "ruby jruby truffleruby",
      .codes = "e",
      .values = "IrCE",
      .rests = "iFKTWx",
      .flags = TG_SCRIPT_FLAGS,
      .remedy = TG_COMMAND_RUBY },
    { .names = "php php-cgi phpdbg hhvm",
      .codes = "rBRE",
      .files = "fF",
      .values = "cdzSt",
      .longs = "--run --process-begin --process-code --process-end",
      .vlongs = "--php-ini --define --file --process-file",
      .flags = TG_SCRIPT_FLAGS,
      .remedy = TG_COMMAND_PHP },
    { .names = "node nodejs bun tsx ts-node",
      .codes = "ep",
      .values = "rC",
      .longs = "--eval --print",
      .vlongs = "--require --import --loader --conditions --env-file",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_SHELL,
      .remedy = TG_COMMAND_NODE },
    { .names = "deno",
      .command = "eval",
      .flags = TG_COMMAND_IS_FIRST,
      .remedy = TG_COMMAND_ENVIRONMENT },
    { .names = "lua luajit texlua luau",
      .codes = "e",
      .values = "l",
      .flags = TG_SCRIPT_FLAGS },
    { .names = "Rscript R julia groovy scala kotlin elixir guile racket expect "
               "gnuplot osascript clojure clj raku perl6 crystal swift",
      .codes = "eEc",
      .longs = "--eval --print --expr",
      .flags = TG_SCRIPT_FLAGS },
    { .names = "erl", .longs = "-eval", .flags = TG_COMMAND_IS_SINGLE },
    { .names = "sbcl ecl octave clisp emacs emacsclient",
      .codes = "ex",
      .longs = "--eval --execute" },
    { .names = "gdb lldb",
      .codes = "o",
      .longs = "-ex -iex -eval-command -init-eval-command -one-line",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "vi vim nvim view ex gvim rvim",
      .codes = "c",
      .longs = "--cmd" },
    { .names = "awk gawk mawk nawk original-awk",
      .codes = "e",
      .files = "fE",
      .values = "Fvil",
      .longs = "--source",
      .vlongs = "--file --exec --assign --field-separator --include --load",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_STRICT,
      .remedy = TG_COMMAND_AWK },
    { .names = "sed gsed",
      .codes = "e",
      .files = "f",
      .values = "l",
      .rests = "i",
      .longs = "--expression",
      .vlongs = "--file --line-length",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_MILD,
      .remedy = TG_COMMAND_AWK },

    /* SQL, and databases that run scripts */
    { .names = "sqlite sqlcipher",
      .longs = "-cmd",
      .vlongs = "-separator -init -newline -nullvalue -vfs -mmap -lookaside "
                "-pagecache -heap -maxsize -escape",
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQLITE },
    { .names = "duckdb",
      .longs = "-c -s -cmd",
      .vlongs = "-separator -init -newline -nullvalue",
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "psql pgcli",
      .codes = "c",
      .files = "f",
      .values = "dhpUvFLPRTo",
      .longs = "--command",
      .vlongs = "--file --dbname --host --port --username --set --variable "
                "--field-separator --log-file --pset --record-separator "
                "--table-attr --output",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_PSQL },
    { .names = "mysql mariadb mycli",
      .codes = "e",
      .values = "huPDS",
      .rests = "p",
      .longs = "--execute --init-command",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "clickhouse clickhouse-client clickhouse-local snowsql",
      .codes = "q",
      .longs = "--query",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "sqlcmd",
      .codes = "qQ",
      .values = "SUPdios",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "cqlsh usql trino presto",
      .codes = "ec",
      .longs = "--execute --command",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "osqueryi",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "influx",
      .longs = "-execute",
      .flags = TG_COMMAND_IS_SINGLE,
      .remedy = TG_COMMAND_SQL },
    { .names = "mongosh mongo",
      .longs = "--eval",
      .flags = TG_COMMAND_IS_READER },
    { .names = "redis-cli valkey-cli",
      .values = "hpnau",
      .command = "eval EVAL",
      .flags = TG_COMMAND_IS_FIRST,
      .remedy = TG_COMMAND_WORDS },

    /* other machines, other users, several times */
    { .names = "ssh slogin autossh rsh remsh",
      .values = "BbcDEeFIiJLlMmOoPpQRSWw",
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_JOINED | TG_COMMAND_IS_STRICT
               | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SSH },
    { .names = "su runuser sg",
      .codes = "c",
      .values = "sgGwu",
      .longs = "--command --session-command",
      .flags = TG_COMMAND_IS_STARTER },
    { .names = "script", .codes = "c", .longs = "--command" },
    { .names = "flock",
      .codes = "c",
      .longs = "--command",
      .flags = TG_COMMAND_IS_STARTER },
    { .names = "npx npm pnpm nix-shell",
      .codes = "c",
      .longs = "--call --run --command",
      .flags = TG_COMMAND_IS_STARTER },
    { .names = "watch",
      .values = "nq",
      .vlongs = "--interval --equexit",
      .flags = TG_COMMAND_IS_ALL | TG_COMMAND_IS_JOINED
               | TG_COMMAND_IS_STRICT },
    { .names = "hyperfine", .flags = TG_COMMAND_IS_ALL },
    { .names = "git", .longs = "--exec --upload-pack --receive-pack" },
    { .names = "tar gtar bsdtar",
      .longs = "--to-command --checkpoint-action --use-compress-program "
               "--rsh-command --info-script --new-volume-script" },
    { .names = "rsync", .codes = "e", .longs = "--rsh --rsync-path" },
    { .names = "make gmake", .longs = "--eval" },

    /* starters of whatever there is */
    { .names = "kubectl oc lxc incus crictl microk8s k3s mosh",
      .flags = TG_COMMAND_IS_STARTER | TG_COMMAND_IS_DASHED },
    { .names = "env sudo doas pkexec nice ionice chrt taskset timeout setsid "
               "nohup stdbuf unbuffer chroot unshare nsenter systemd-run time "
               "numactl prlimit setpriv setarch linux32 linux64 ltrace strace "
               "valgrind perf gosu su-exec setuidgid chpst softlimit envdir "
               "tini dumb-init catatonit firejail bwrap proot fakeroot "
               "fakechroot dbus-run-session xvfb-run torsocks torify "
               "proxychains tsocks cpulimit trickle eatmydata faketime "
               "catchsegv",
      .flags = TG_COMMAND_IS_STARTER,
      .remedy = TG_COMMAND_WORDS },
    { .names = "docker podman nerdctl docker-compose podman-compose buildah "
               "runc crun ctr systemd-nspawn machinectl flatpak toolbox "
               "distrobox lxc-attach apptainer singularity vagrant "
               "xargs find fd fdfind parallel busybox toybox sshpass direnv uv "
               "poetry pipenv pipx bundle conda mamba micromamba hatch nix "
               "cgexec choom uclampset schedtool srun mpirun mpiexec ip "
               "start-stop-daemon daemonize chronic",
      .flags = TG_COMMAND_IS_STARTER },
};

int
tg_command_has(const char *list, tg_str_t word)
{
    size_t len;

    while (list != NULL && *list != '\0') {
        len = strcspn(list, " ");

        if (tg_str_eq(tg_str(list, len), word)) {
            return 1;
        }

        list += len + (list[len] == ' ');
    }

    return 0;
}

/* A name without its folder and its version: python of /usr/bin/python3.11. */
static tg_str_t
tg_command_name(tg_str_t word)
{
    size_t i, len;

    for (i = word.len; i > 0 && word.data[i - 1] != '/'; i--) {
        /* void */
    }

    word = tg_str(word.data + i, word.len - i);
    len = word.len;

    while (len > 0
           && (tg_is_digit(word.data[len - 1])
               || tg_is_one_of(word.data[len - 1], ".-")))
    {
        len--;
    }

    return len != 0 ? tg_str(word.data, len) : word;
}

const tg_command_program_t *
tg_command_program(tg_str_t word)
{
    tg_str_t name;
    size_t i;

    name = tg_command_name(word);

    for (i = 0; i < sizeof(tg_command_programs) / sizeof(*tg_command_programs);
         i++) {
        if (tg_command_has(tg_command_programs[i].names, name)) {
            return &tg_command_programs[i];
        }
    }

    return NULL;
}
