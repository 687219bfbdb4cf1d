#!/usr/bin/env python3
"""Reads an untrusted archive in a sandbox. Writes contents to numbered files and names to stdout.

    unpack.py ARCHIVE FOLDER MOST_BYTES MOST_FILES FILE_BYTES [ENDING...]

Each member is one JSON object, followed by a NUL: {"name", "kind", "bytes", "number"}. The kind is
"file", "link" or "device". The number is the name of the file in FOLDER that has the member's
content, or null. A member is only listed, without its content, if it is larger than FILE_BYTES or
its name has none of the ENDINGs. The last object is {"end": "ok"}, or {"end": REASON} if the rest
was not read. archive.cpp does not trust this output.
"""
import json
import os
import stat
import sys
import tarfile
import zipfile


class Refused(Exception):
    pass


class Reader:
    def __init__(self, folder, most_bytes, most_files, file_bytes, endings):
        self.folder, self.left, self.files_left = folder, most_bytes, most_files
        self.file_bytes, self.endings = file_bytes, tuple(endings)
        self.number = 0

    def write_record(self, **what):
        if 'name' in what:  # Python keeps invalid UTF-8 as surrogates, which JSON cannot represent
            what['name'] = what['name'].encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')
        sys.stdout.write(json.dumps(what, ensure_ascii=True) + '\0')

    def wants(self, name):
        return not self.endings or name.lower().endswith(self.endings)

    def member(self, name, kind, size, open_it):
        self.files_left -= 1
        if self.files_left < 0:
            raise Refused('it contains too many files')
        number = None
        if kind == 'file' and size <= self.file_bytes and self.wants(name):
            number = self.number
            self.number += 1
            size = self.copy(open_it(), number)
        self.write_record(name=name, kind=kind, bytes=size, number=number)

    def copy(self, source, number):
        done = 0
        with source, open(os.path.join(self.folder, str(number)), 'xb') as to:
            while True:
                part = source.read(1 << 16)
                if not part:
                    return done
                done += len(part)
                self.spend(len(part))
                if done > self.file_bytes:
                    raise Refused('a file in it is larger than its header states')
                to.write(part)

    def spend(self, size):
        self.left -= size
        if self.left < 0:
            raise Refused('its unpacked size is too large')

    def zip(self, path):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if info.is_dir():
                    continue
                mode = info.external_attr >> 16
                kind = 'link' if stat.S_ISLNK(mode) else 'file'
                if kind == 'file' and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                    kind = 'device'
                if info.flag_bits & 1:
                    raise Refused('it is encrypted')
                self.member(info.filename, kind, info.file_size, lambda: archive.open(info))

    def tar(self, path):
        # tarfile also decompresses members that it skips, so their declared sizes count, too.
        with tarfile.open(path, 'r:*', errorlevel=1) as archive:
            for info in archive:
                if info.isdir():
                    continue
                kind = 'file' if info.isreg() else 'device'
                if info.issym() or info.islnk():
                    kind = 'link'
                if kind == 'file' and not (self.wants(info.name) and info.size <= self.file_bytes):
                    self.spend(info.size)
                self.member(info.name, kind, info.size, lambda: archive.extractfile(info))


def main():
    path, folder = sys.argv[1:3]
    reader = Reader(folder, *map(int, sys.argv[3:6]), sys.argv[6:])
    end = 'ok'
    try:
        if zipfile.is_zipfile(path):
            reader.zip(path)
        elif tarfile.is_tarfile(path):
            reader.tar(path)
        else:
            end = 'it is neither a zip nor a tar archive'
    except Refused as why:
        end = str(why)
    except MemoryError:
        end = 'it takes too much memory to read'
    except Exception as error:  # a damaged archive can cause any exception in these libraries
        end = 'it is damaged: ' + type(error).__name__
    reader.write_record(end=end)


if __name__ == '__main__':
    main()
