#include "catalog/tg_mime_extension.h"

/* Longest extension of the table, in bytes. */
#define TG_MIME_EXTENSION_MAX 8

static const struct {
    const char *extension;
    const char *type;
} tg_mime_extensions[] = {
    { "avif", "image/avif" },
    { "bmp", "image/bmp" },
    { "c", "text/x-c" },
    { "cc", "text/x-c++" },
    { "conf", "text/plain" },
    { "cpp", "text/x-c++" },
    { "css", "text/css" },
    { "csv", "text/csv" },
    { "diff", "text/x-diff" },
    { "doc", "application/msword" },
    { "docx", "application/"
              "vnd.openxmlformats-officedocument.wordprocessingml.document" },
    { "flac", "audio/flac" },
    { "gif", "image/gif" },
    { "go", "text/x-go" },
    { "gz", "application/gzip" },
    { "h", "text/x-c" },
    { "htm", "text/html" },
    { "html", "text/html" },
    { "ico", "image/vnd.microsoft.icon" },
    { "ini", "text/plain" },
    { "java", "text/x-java" },
    { "jpeg", "image/jpeg" },
    { "jpg", "image/jpeg" },
    { "js", "text/javascript" },
    { "json", "application/json" },
    { "jsonl", "application/jsonl" },
    { "log", "text/plain" },
    { "lua", "text/x-lua" },
    { "m4a", "audio/mp4" },
    { "markdown", "text/markdown" },
    { "md", "text/markdown" },
    { "mjs", "text/javascript" },
    { "mp3", "audio/mpeg" },
    { "mp4", "video/mp4" },
    { "ods", "application/vnd.oasis.opendocument.spreadsheet" },
    { "odt", "application/vnd.oasis.opendocument.text" },
    { "ogg", "audio/ogg" },
    { "patch", "text/x-diff" },
    { "pdf", "application/pdf" },
    { "php", "text/x-php" },
    { "pl", "text/x-perl" },
    { "png", "image/png" },
    { "pptx", "application/"
              "vnd.openxmlformats-officedocument.presentationml.presentation" },
    { "py", "text/x-python" },
    { "rb", "text/x-ruby" },
    { "rs", "text/x-rust" },
    { "rst", "text/x-rst" },
    { "rtf", "application/rtf" },
    { "sh", "application/x-sh" },
    { "sql", "application/sql" },
    { "svg", "image/svg+xml" },
    { "tar", "application/x-tar" },
    { "tex", "text/x-tex" },
    { "tif", "image/tiff" },
    { "tiff", "image/tiff" },
    { "toml", "application/toml" },
    { "ts", "text/x-typescript" },
    { "tsv", "text/tab-separated-values" },
    { "tsx", "text/x-typescript" },
    { "txt", "text/plain" },
    { "wasm", "application/wasm" },
    { "wav", "audio/wav" },
    { "webm", "video/webm" },
    { "webp", "image/webp" },
    { "xhtml", "application/xhtml+xml" },
    { "xls", "application/vnd.ms-excel" },
    { "xlsx", "application/"
              "vnd.openxmlformats-officedocument.spreadsheetml.sheet" },
    { "xml", "application/xml" },
    { "yaml", "application/yaml" },
    { "yml", "application/yaml" },
    { "zip", "application/zip" },
};

tg_str_t
tg_mime_type_from_name(tg_str_t name)
{
    tg_str_t extension;
    size_t i;

    for (i = 0; i <= TG_MIME_EXTENSION_MAX && i < name.len; i++) {
        if (name.data[name.len - i - 1] == '.') {
            break;
        }
    }

    /* A name that begins with its only dot has no extension. */
    if (i > TG_MIME_EXTENSION_MAX || i + 1 >= name.len
        || name.data[name.len - i - 2] == '/')
    {
        return TG_STR_NONE;
    }

    extension = tg_str(name.data + name.len - i, i);

    for (i = 0; i < sizeof(tg_mime_extensions) / sizeof(tg_mime_extensions[0]);
         i++) {
        if (tg_str_eq_nocase(extension,
                             tg_str_from_cstr(tg_mime_extensions[i].extension)))
        {
            return tg_str_from_cstr(tg_mime_extensions[i].type);
        }
    }

    return TG_STR_NONE;
}
