"""The files that the checks of texts read."""
import subprocess


def tracked_files(root):
    """Returns the names of the files that Git tracks in `root`, or of all files if `root` is not a clone."""
    listed = subprocess.run(['git', '-C', root, 'ls-files', '-z'], capture_output=True, text=True)
    names = listed.stdout.split('\0') if listed.returncode == 0 else [
        str(path.relative_to(root)) for path in root.rglob('*')]
    return [name for name in names if not name.startswith('subprojects/') and (root / name).is_file()]
