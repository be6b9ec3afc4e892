/* Programs that run code from their command line or start other programs. */
#include "catalog/tg_command_injection.h"

#define TG_SHELL_FLAGS                                                         \
    (TG_COMMAND_IS_SHELL | TG_COMMAND_IS_STRICT | TG_COMMAND_IS_PLAIN          \
     | TG_COMMAND_IS_READER)
#define TG_SCRIPT_FLAGS (TG_COMMAND_IS_STRICT | TG_COMMAND_IS_READER)

#define TG_SSH_SETTINGS                                                        \
    "proxycommand localcommand knownhostscommand remotecommand"

static const tg_command_program_t tg_command_programs[] = {
    /* --- shells --- */
    { .names = "sh bash rbash dash ash zsh ksh mksh lksh pdksh oksh yash osh "
               "csh tcsh",
      .code_options = "c",
      .value_options = "oO",
      .stdin_options = "s",
      .long_value_options = "--rcfile --init-file --emulate",
      .flags = TG_SHELL_FLAGS,
      .hint = TG_COMMAND_HINT_SHELL },
    { .names = "fish nu xonsh elvish rc es",
      .code_options = "cC",
      .long_code_options = "--command --commands --init-command",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_PLAIN,
      .hint = TG_COMMAND_HINT_ENVIRONMENT },
    { .names = "pwsh powershell",
      .long_code_options = "-c -C -command -Command -COMMAND -EncodedCommand",
      .long_file_options = "-f -File -file",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_PLAIN
               | TG_COMMAND_IS_JOINED,
      .hint = TG_COMMAND_HINT_ENVIRONMENT },

    /* --- languages --- */
    { .names = "python pypy ipython micropython",
      .code_options = "c",
      .file_options = "m",
      .value_options = "WXQ",
      .long_value_options = "--check-hash-based-pycs",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_PLAIN,
      .hint = TG_COMMAND_HINT_PYTHON },
    { .names = "perl",
      .code_options = "eE",
      .value_options = "I",
      .attached_options = "iFMmxCdDV",
      .flags = TG_SCRIPT_FLAGS,
      .hint = TG_COMMAND_HINT_PERL },
    { .names = "ruby jruby truffleruby",
      .code_options = "e",
      .value_options = "IrCE",
      .attached_options = "iFKTWx",
      .flags = TG_SCRIPT_FLAGS,
      .hint = TG_COMMAND_HINT_RUBY },
    { .names = "php php-cgi phpdbg hhvm",
      .code_options = "rBRE",
      .file_options = "fF",
      .value_options = "cdzSt",
      .long_code_options = "--run --process-begin --process-code --process-end",
      .long_file_options = "--file --process-file",
      .long_value_options = "--php-ini --define",
      .flags = TG_SCRIPT_FLAGS,
      .hint = TG_COMMAND_HINT_PHP },
    { .names = "node nodejs bun tsx ts-node",
      .code_options = "ep",
      .value_options = "rC",
      .long_code_options = "--eval --print",
      .long_value_options =
          "--require --import --loader --conditions --env-file",
      .flags = TG_SCRIPT_FLAGS | TG_COMMAND_IS_SHELL,
      .hint = TG_COMMAND_HINT_NODE },
    { .names = "deno",
      .command = "eval",
      .flags = TG_COMMAND_IS_FIRST,
      .hint = TG_COMMAND_HINT_ENVIRONMENT },
    { .names = "lua luajit texlua luau",
      .code_options = "e",
      .value_options = "l",
      .flags = TG_SCRIPT_FLAGS },
    { .names = "Rscript R julia groovy scala kotlin elixir guile racket expect "
               "gnuplot osascript clojure clj raku perl6 crystal swift ghc "
               "ocaml iex nim maxima sage",
      .code_options = "eEc",
      .long_code_options = "--eval --print --expr --rpc-eval --batch-string",
      .flags = TG_SCRIPT_FLAGS },
    { .names = "erl ecl emacs emacsclient",
      .long_code_options = "-eval -execute -e",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "sbcl octave clisp",
      .code_options = "x",
      .long_code_options = "--eval" },
    { .names = "dc",
      .code_options = "e",
      .file_options = "f",
      .long_code_options = "--expression",
      .long_file_options = "--file",
      .flags = TG_COMMAND_IS_READER },
    { .names = "gdb lldb",
      .long_code_options =
          "-ex -iex -eval-command -init-eval-command -o -O -one-line "
          "-one-line-before-file",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "vi vim nvim view ex gvim rvim",
      .code_options = "c",
      .long_code_options = "--cmd",
      .flags = TG_COMMAND_IS_PLUS },
    { .names = "awk gawk mawk nawk original-awk",
      .code_options = "e",
      .file_options = "fE",
      .value_options = "Fvil",
      .long_code_options = "--source",
      .long_file_options = "--file --exec",
      .long_value_options = "--assign --field-separator --include --load",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_STRICT,
      .hint = TG_COMMAND_HINT_AWK },
    { .names = "sed gsed",
      .code_options = "e",
      .file_options = "f",
      .value_options = "l",
      .attached_options = "i",
      .long_code_options = "--expression",
      .long_file_options = "--file",
      .long_value_options = "--line-length",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_BOUNDED_SAFE,
      .hint = TG_COMMAND_HINT_AWK },
    { .names = "jq gojq jaq",
      .file_options = "f",
      .value_options = "L",
      .long_file_options = "--from-file",
      .long_value_options = "--indent --library-path",
      .long_pair_options = "--arg --argjson --slurpfile --rawfile --argfile",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_BOUNDED_SAFE,
      .hint = TG_COMMAND_HINT_JQ },
    { .names = "mlr",
      .file_options = "f",
      .value_options = "s",
      .long_value_options =
          "--ifs --ofs --fs --ips --ops --ps --irs --ors --rs --from",
      .command = "filter put",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_BOUNDED_SAFE },

    /* --- SQL, and databases that run scripts --- */
    { .names = "sqlite sqlcipher",
      .long_code_options = "-cmd",
      .long_value_options =
          "-separator -init -newline -nullvalue -vfs -mmap -lookaside "
          "-pagecache -heap -maxsize -escape",
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQLITE },
    { .names = "duckdb",
      .long_code_options = "-c -s -cmd",
      .long_value_options = "-separator -init -newline -nullvalue",
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_SINGLE | TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "psql pgcli",
      .code_options = "c",
      .file_options = "f",
      .value_options = "dhpUvFLPRTo",
      .long_code_options = "--command",
      .long_file_options = "--file",
      .long_value_options =
          "--dbname --host --port --username --set --variable "
          "--field-separator --log-file --pset --record-separator "
          "--table-attr --output",
      .flags = TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_PSQL },
    { .names = "mysql mariadb mycli litecli",
      .code_options = "e",
      .value_options = "huPDS",
      .attached_options = "p",
      .long_code_options = "--execute --init-command",
      .flags = TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "clickhouse clickhouse-client clickhouse-local snowsql dolt "
               "impala-shell",
      .code_options = "q",
      .long_code_options = "--query",
      .flags = TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "sqlcmd",
      .code_options = "qQ",
      .value_options = "SUPdios",
      .flags = TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "cqlsh usql trino presto hive beeline spark-sql mysqlsh",
      .code_options = "ec",
      .long_code_options = "--execute --command",
      .flags = TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "sqlplus isql tsql",
      .flags = TG_COMMAND_IS_INPUT,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "bq steampipe",
      .command = "query",
      .flags = TG_COMMAND_IS_FIRST,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "sqlite-utils",
      .command = "query memory",
      .flags = TG_COMMAND_IS_REST,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "osqueryi cypher-shell",
      .flags = TG_COMMAND_IS_FIRST | TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "influx",
      .long_code_options = "-execute",
      .flags = TG_COMMAND_IS_SINGLE,
      .hint = TG_COMMAND_HINT_SQL },
    { .names = "mongosh mongo arangosh",
      .long_code_options = "--eval --javascript.execute-string",
      .flags = TG_COMMAND_IS_READER },
    { .names = "redis-cli valkey-cli",
      .value_options = "hpnau",
      .command = "eval EVAL",
      .flags = TG_COMMAND_IS_FIRST,
      .hint = TG_COMMAND_HINT_WORDS },

    /* --- remote shells, other users, and other commands --- */
    { .names = "ssh slogin autossh rsh remsh",
      .value_options = "BbcDEeFIiJLlMmOoPpQRSWw",
      .code_settings = TG_SSH_SETTINGS,
      .flags = TG_COMMAND_IS_REST | TG_COMMAND_IS_JOINED | TG_COMMAND_IS_STRICT
               | TG_COMMAND_IS_READER,
      .hint = TG_COMMAND_HINT_SSH },
    { .names = "scp sftp",
      .value_options = "BcDFiJloPRSsX",
      .code_settings = TG_SSH_SETTINGS },
    { .names = "su runuser sg",
      .code_options = "c",
      .value_options = "sgGwu",
      .long_code_options = "--command --session-command",
      .flags = TG_COMMAND_IS_LAUNCHER },
    { .names = "script",
      .code_options = "c",
      .long_code_options = "--command" },
    { .names = "flock",
      .code_options = "c",
      .long_code_options = "--command",
      .flags = TG_COMMAND_IS_LAUNCHER },
    { .names = "npx npm pnpm nix-shell",
      .code_options = "c",
      .long_code_options = "--call --run --command",
      .flags = TG_COMMAND_IS_LAUNCHER },
    { .names = "watch",
      .file_options = "x",
      .value_options = "nq",
      .long_value_options = "--interval --equexit",
      .flags = TG_COMMAND_IS_ALL | TG_COMMAND_IS_JOINED
               | TG_COMMAND_IS_STRICT },
    { .names = "parallel",
      .value_options = "aCdEIjLMNnPSsUW",
      .long_value_options =
          "--arg-file --colsep --delay --jobs --joblog --max-args "
          "--max-procs --max-replace-args --results --sshlogin "
          "--sshloginfile --tempdir --tmpdir --timeout --workdir --wd "
          "--tagstring --halt --retries --load --memfree --nice --env "
          "--profile --block --recend --recstart --header --basefile",
      .flags = TG_COMMAND_IS_ALL | TG_COMMAND_IS_JOINED
               | TG_COMMAND_IS_STRICT },
    { .names = "hyperfine concurrently", .flags = TG_COMMAND_IS_ALL },
    { .names = "tmux screen",
      .value_options = "tsncFSLfxyeT",
      .flags = TG_COMMAND_IS_ALL },
    { .names = "nodemon", .code_options = "x", .long_code_options = "--exec" },
    { .names = "ncat",
      .code_options = "ce",
      .long_code_options = "--sh-exec --exec" },
    { .names = "lftp", .code_options = "ec", .flags = TG_COMMAND_IS_READER },
    { .names = "at batch ed", .flags = TG_COMMAND_IS_INPUT },
    { .names = "git",
      .value_options = "cC",
      .code_settings =
          "alias. core.sshcommand core.pager core.editor core.fsmonitor "
          "core.askpass core.gitproxy credential.helper diff.external "
          "sequence.editor gpg.program gpg.ssh.program "
          "interactive.difffilter web.browser uploadpack.packobjectshook",
      .long_code_options =
          "--exec --extcmd --upload-pack --receive-pack --tree-filter "
          "--index-filter --msg-filter --env-filter --commit-filter "
          "--parent-filter --tag-name-filter",
      .long_value_options = "--config" },
    { .names = "tar gtar bsdtar",
      .code_options = "IF",
      .value_options = "fCTXbgHNKLV",
      .long_code_options =
          "--to-command --checkpoint-action --use-compress-program "
          "--rsh-command --info-script --new-volume-script",
      .flags = TG_COMMAND_IS_BOUNDED_SAFE },
    { .names = "zip",
      .long_code_options = "-TT --unzip-command",
      .flags = TG_COMMAND_IS_SINGLE },
    { .names = "rsync",
      .code_options = "e",
      .long_code_options = "--rsh --rsync-path" },
    { .names = "make gmake",
      .code_options = "E",
      .value_options = "CfIjloW",
      .long_code_options = "--eval",
      .long_value_options =
          "--directory --file --makefile --include-dir --jobs "
          "--load-average --old-file --what-if",
      .flags = TG_COMMAND_IS_ASSIGNED | TG_COMMAND_IS_BOUNDED_SAFE },

    /* --- launchers of any program --- */
    { .names = "kubectl oc lxc incus crictl microk8s k3s mosh",
      .flags = TG_COMMAND_IS_LAUNCHER | TG_COMMAND_IS_DASHED },
    { .names = "env sudo doas pkexec nice ionice chrt taskset timeout setsid "
               "nohup stdbuf unbuffer chroot unshare nsenter systemd-run time "
               "numactl prlimit setpriv setarch linux32 linux64 ltrace strace "
               "valgrind perf gosu su-exec setuidgid chpst softlimit envdir "
               "tini dumb-init catatonit firejail bwrap proot fakeroot "
               "fakechroot dbus-run-session xvfb-run torsocks torify "
               "proxychains tsocks cpulimit trickle eatmydata faketime "
               "catchsegv caffeinate systemd-inhibit systemd-cat ssh-agent "
               "dbus-launch run-one setlock tsp s6-setuidgid rr",
      .flags = TG_COMMAND_IS_LAUNCHER,
      .hint = TG_COMMAND_HINT_WORDS },
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
      .flags = TG_COMMAND_IS_LAUNCHER },
    { .names = "find fd fdfind",
      .launch_words = "-exec -execdir -ok -okdir -x -X --exec --exec-batch",
      .flags = TG_COMMAND_IS_LAUNCHER },
};

int
tg_command_list_has(const char *list, tg_str_t word)
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

/* Returns a program's base name: python for /usr/bin/python3.11. */
static tg_str_t
tg_command_base_name(tg_str_t word)
{
    size_t len;

    word = tg_path_get_base_name(word);
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
tg_command_find_program(tg_str_t word)
{
    tg_str_t name;
    size_t i;

    name = tg_command_base_name(word);

    for (i = 0; i < sizeof(tg_command_programs) / sizeof(*tg_command_programs);
         i++) {
        if (tg_command_list_has(tg_command_programs[i].names, name)) {
            return &tg_command_programs[i];
        }
    }

    return NULL;
}
