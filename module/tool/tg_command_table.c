/*
 * Programs that run code of their command line, and those that start others.
 */
#include "tool/tg_command.h"

#define TG_SHELL_FLAGS                                                         \
    (TG_COMMAND_IS_SHELL | TG_COMMAND_IS_STRICT | TG_COMMAND_IS_PLAIN          \
     | TG_COMMAND_IS_READER)
#define TG_SCRIPT_FLAGS (TG_COMMAND_IS_STRICT | TG_COMMAND_IS_READER)

#define TG_SSH_SETTINGS                                                        \
    "proxycommand localcommand knownhostscommand remotecommand"

static const tg_command_program_t tg_command_programs[] = {
    /* shells */
    { .names = "sh bash rbash dash ash zsh ksh mksh lksh pdksh oksh yash osh "
               "csh tcsh",
      .codes = "c",
      .values = "oO",
      .inputs = "s",
      .vlongs = "--rcfile --init-file --emulate",
      .flags = TG_SHELL_FLAGS,
      .remedy = TG_COMMAND_SHELL },
    { .names = "fish nu xonsh elvish rc es",
      .codes = "cC",
      .longs = "--command --commands --init-command",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_PLAIN,
      .remedy = TG_COMMAND_ENVIRONMENT },
    { .names = "pwsh powershell",
      .longs = "-c -C -command -Command -COMMAND -EncodedCommand",
      .flongs = "-f -File -file",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_PLAIN
               | TG_COMMAND_IS_JOINED,
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
      .flongs = "--file --process-file",
      .vlongs = "--php-ini --define",
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
               "gnuplot osascript clojure clj raku perl6 crystal swift ghc "
               "ocaml iex nim maxima sage",
      .codes = "eEc",
      .longs = "--eval --print --expr --rpc-eval --batch-string",
      .flags = TG_SCRIPT_FLAGS },
    { .names = "erl ecl emacs emacsclient",
      .longs = "-eval -execute -e",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "sbcl octave clisp", .codes = "x", .longs = "--eval" },
    { .names = "dc",
      .codes = "e",
      .files = "f",
      .longs = "--expression",
      .flongs = "--file",
      .flags = TG_COMMAND_IS_READER },
    { .names = "gdb lldb",
      .longs = "-ex -iex -eval-command -init-eval-command -o -O -one-line "
               "-one-line-before-file",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "vi vim nvim view ex gvim rvim",
      .codes = "c",
      .longs = "--cmd",
      .flags = TG_COMMAND_IS_PLUS },
    { .names = "awk gawk mawk nawk original-awk",
      .codes = "e",
      .files = "fE",
      .values = "Fvil",
      .longs = "--source",
      .flongs = "--file --exec",
      .vlongs = "--assign --field-separator --include --load",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_STRICT,
      .remedy = TG_COMMAND_AWK },
    { .names = "sed gsed",
      .codes = "e",
      .files = "f",
      .values = "l",
      .rests = "i",
      .longs = "--expression",
      .flongs = "--file",
      .vlongs = "--line-length",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_MILD,
      .remedy = TG_COMMAND_AWK },
    { .names = "jq gojq jaq",
      .files = "f",
      .values = "L",
      .flongs = "--from-file",
      .vlongs = "--indent --library-path",
      .plongs = "--arg --argjson --slurpfile --rawfile --argfile",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_MILD,
      .remedy = TG_COMMAND_JQ },
    { .names = "mlr",
      .files = "f",
      .values = "s",
      .vlongs = "--ifs --ofs --fs --ips --ops --ps --irs --ors --rs --from",
      .command = "filter put",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_MILD },

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
      .flongs = "--file",
      .vlongs = "--dbname --host --port --username --set --variable "
                "--field-separator --log-file --pset --record-separator "
                "--table-attr --output",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_PSQL },
    { .names = "mysql mariadb mycli litecli",
      .codes = "e",
      .values = "huPDS",
      .rests = "p",
      .longs = "--execute --init-command",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "clickhouse clickhouse-client clickhouse-local snowsql dolt "
               "impala-shell",
      .codes = "q",
      .longs = "--query",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "sqlcmd",
      .codes = "qQ",
      .values = "SUPdios",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "cqlsh usql trino presto hive beeline spark-sql mysqlsh",
      .codes = "ec",
      .longs = "--execute --command",
      .flags = TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "sqlplus isql tsql",
      .flags = TG_COMMAND_IS_INPUT,
      .remedy = TG_COMMAND_SQL },
    { .names = "bq steampipe",
      .command = "query",
      .flags = TG_COMMAND_IS_FIRST,
      .remedy = TG_COMMAND_SQL },
    { .names = "sqlite-utils",
      .command = "query memory",
      .flags = TG_COMMAND_IS_REST,
      .remedy = TG_COMMAND_SQL },
    { .names = "osqueryi cypher-shell",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SQL },
    { .names = "influx",
      .longs = "-execute",
      .flags = TG_COMMAND_IS_SINGLE,
      .remedy = TG_COMMAND_SQL },
    { .names = "mongosh mongo arangosh",
      .longs = "--eval --javascript.execute-string",
      .flags = TG_COMMAND_IS_READER },
    { .names = "redis-cli valkey-cli",
      .values = "hpnau",
      .command = "eval EVAL",
      .flags = TG_COMMAND_IS_FIRST,
      .remedy = TG_COMMAND_WORDS },

    /* other machines, other users, several times */
    { .names = "ssh slogin autossh rsh remsh",
      .values = "BbcDEeFIiJLlMmOoPpQRSWw",
      .sets = TG_SSH_SETTINGS,
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_JOINED | TG_COMMAND_IS_STRICT
               | TG_COMMAND_IS_READER,
      .remedy = TG_COMMAND_SSH },
    { .names = "scp sftp", .values = "BcDFiJloPRSsX", .sets = TG_SSH_SETTINGS },
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
      .files = "x",
      .values = "nq",
      .vlongs = "--interval --equexit",
      .flags = TG_COMMAND_IS_ALL | TG_COMMAND_IS_JOINED
               | TG_COMMAND_IS_STRICT },
    { .names = "parallel",
      .values = "aCdEIjLMNnPSsUW",
      .vlongs = "--arg-file --colsep --delay --jobs --joblog --max-args "
                "--max-procs --max-replace-args --results --sshlogin "
                "--sshloginfile --tempdir --tmpdir --timeout --workdir --wd "
                "--tagstring --halt --retries --load --memfree --nice --env "
                "--profile --block --recend --recstart --header --basefile",
      .flags = TG_COMMAND_IS_ALL | TG_COMMAND_IS_JOINED
               | TG_COMMAND_IS_STRICT },
    { .names = "hyperfine concurrently", .flags = TG_COMMAND_IS_ALL },
    { .names = "tmux screen",
      .values = "tsncFSLfxyeT",
      .flags = TG_COMMAND_IS_ALL },
    { .names = "nodemon", .codes = "x", .longs = "--exec" },
    { .names = "ncat", .codes = "ce", .longs = "--sh-exec --exec" },
    { .names = "lftp", .codes = "ec", .flags = TG_COMMAND_IS_READER },
    { .names = "at batch ed", .flags = TG_COMMAND_IS_INPUT },
    { .names = "git",
      .values = "cC",
      .sets = "alias. core.sshcommand core.pager core.editor core.fsmonitor "
              "core.askpass core.gitproxy credential.helper diff.external "
              "sequence.editor gpg.program gpg.ssh.program "
              "interactive.difffilter web.browser uploadpack.packobjectshook",
      .longs = "--exec --extcmd --upload-pack --receive-pack --tree-filter "
               "--index-filter --msg-filter --env-filter --commit-filter "
               "--parent-filter --tag-name-filter",
      .vlongs = "--config" },
    { .names = "tar gtar bsdtar",
      .codes = "IF",
      .values = "fCTXbgHNKLV",
      .longs = "--to-command --checkpoint-action --use-compress-program "
               "--rsh-command --info-script --new-volume-script",
      .flags = TG_COMMAND_IS_MILD },
    { .names = "zip",
      .longs = "-TT --unzip-command",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "rsync", .codes = "e", .longs = "--rsh --rsync-path" },
    { .names = "make gmake",
      .codes = "E",
      .values = "CfIjloW",
      .longs = "--eval",
      .vlongs = "--directory --file --makefile --include-dir --jobs "
                "--load-average --old-file --what-if",
      .flags = TG_COMMAND_IS_ASSIGNED | TG_COMMAND_IS_MILD },

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
               "catchsegv caffeinate systemd-inhibit systemd-cat ssh-agent "
               "dbus-launch run-one setlock tsp s6-setuidgid rr",
      .flags = TG_COMMAND_IS_STARTER,
      .remedy = TG_COMMAND_WORDS },
    { .names = "docker podman nerdctl docker-compose podman-compose buildah "
               "runc crun ctr systemd-nspawn machinectl flatpak toolbox "
               "distrobox lxc-attach apptainer singularity vagrant multipass "
               "limactl colima minikube "
               "xargs busybox toybox sshpass direnv uv uvx rye pdm pixi "
               "poetry pipenv pipx bundle conda mamba micromamba hatch nix "
               "rbenv pyenv nodenv asdf mise volta yarn bunx dotenv dotenvx "
               "doppler op chamber aws-vault envchain cross-env "
               "cgexec choom uclampset schedtool srun mpirun mpiexec ip "
               "start-stop-daemon daemonize chronic",
      .flags = TG_COMMAND_IS_STARTER },
    { .names = "find fd fdfind",
      .starts = "-exec -execdir -ok -okdir -x -X --exec --exec-batch",
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
    word.len -= word.len > 7 && memcmp(tg_str_end(word) - 7, "-static", 7) == 0
                    ? 7
                    : 0;
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
