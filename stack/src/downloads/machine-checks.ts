import { existsSync, mkdirSync, readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { ProgramFailure, runProgram } from '../run-program.ts'
import { StackError } from '../stack-contract.ts'
import { pythonEnvironment } from './python.ts'

/** Time limit of a program that only says which version it is. A busy machine delayed one by 20 seconds. */
const VERSION_MS = 180_000

/** The facts about a Linux machine that decide which build of mongod runs on it. */
export interface MachineLibraries {
  platform: NodeJS.Platform
  /** The libraries of {@link OPENSSL_LIBRARIES} that can be loaded, from newest to oldest. */
  openssl: string[]
  hasCurl: boolean
}

/** The library names under which mongod's builds look for OpenSSL 3, 1.1 and 1.0. */
const OPENSSL_LIBRARIES = ['libssl.so.3', 'libssl.so.1.1', 'libssl.so.1.0.0', 'libssl.so.10'] as const

export type MongodChoice = { kind: 'pin'; pin: string } | { kind: 'missing'; what: string; remedy: string }

/** Chooses the build of mongod that fits this machine's OpenSSL, because each build is linked to one version. */
export function chooseMongod({ platform, openssl, hasCurl }: MachineLibraries): MongodChoice {
  if (platform !== 'linux') return { kind: 'pin', pin: 'mongod-other' }
  if (openssl.length === 0)
    return {
      kind: 'missing',
      what: 'mongod needs OpenSSL (libssl.so.3), which this machine does not have',
      remedy: installCommand('libssl3', 'openssl-libs'),
    }
  if (!hasCurl)
    return {
      kind: 'missing',
      what: 'mongod needs libcurl.so.4, which this machine does not have',
      remedy: installCommand('libcurl4', 'libcurl'),
    }
  if (openssl.includes('libssl.so.3')) return { kind: 'pin', pin: 'mongod-ubuntu2204' }
  if (openssl.includes('libssl.so.1.1')) return { kind: 'pin', pin: 'mongod-ubuntu2004' }
  return { kind: 'pin', pin: openssl.includes('libssl.so.10') ? 'mongod-rhel7' : 'mongod-debian9' }
}

/** Tests which libraries can be loaded, with the system's loader through Python. */
export async function readMachineLibraries(env: NodeJS.ProcessEnv): Promise<MachineLibraries> {
  if (process.platform !== 'linux') return { platform: process.platform, openssl: [], hasCurl: true }
  const script = `
import ctypes, json, sys
def loads(name):
    try: ctypes.CDLL(name); return True
    except OSError: return False
print(json.dumps([name for name in sys.argv[1:] if loads(name)]))`
  const names = [...OPENSSL_LIBRARIES, 'libcurl.so.4']
  const { stdout } = await runProgram('python3', ['-c', script, ...names], {
    timeoutMs: VERSION_MS,
    env: pythonEnvironment(env),
  })
  const loaded = JSON.parse(stdout) as string[]
  return {
    platform: process.platform,
    openssl: OPENSSL_LIBRARIES.filter(name => loaded.includes(name)),
    hasCurl: loaded.includes('libcurl.so.4'),
  }
}

/** @throws StackError unless `python3` is 3.10 or newer (the minimum for jgo) and has pip, and answers within the limit */
export async function requirePython(env: NodeJS.ProcessEnv, timeoutMs = VERSION_MS): Promise<void> {
  const options = { timeoutMs, env: pythonEnvironment(env) }
  const version = await runProgram('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], options).catch(
    (error: unknown) => {
      refuseIfSlow(error)
      return undefined
    },
  )
  if (version === undefined)
    throw new StackError(
      'python3 is missing: it is what downloads Kafka, MongoDB and the registry',
      installCommand('python3 python3-pip', 'python3 python3-pip'),
    )
  const [major = 0, minor = 0] = version.stdout.trim().split(' ').map(Number)
  if (major < 3 || (major === 3 && minor < 10)) {
    throw new StackError(
      `python3 is ${major}.${minor}, and 3.10 or newer is needed`,
      'Put a newer python3 first on the PATH',
    )
  }
  await runProgram('python3', ['-m', 'pip', '--version'], options).catch((error: unknown) => {
    refuseIfSlow(error)
    throw new StackError('python3 has no pip', installCommand('python3-pip', 'python3-pip'), error)
  })
}

/** @throws StackError if a program was stopped at its time limit: nothing is known about it then */
function refuseIfSlow(error: unknown): void {
  if (error instanceof ProgramFailure && error.run.timeLimitMs !== undefined)
    throw new StackError(error.message, 'Start again when this machine is less busy', error)
}

/** @throws StackError if a folder's disk has less than `neededBytes` free */
export function requireDisk(folder: string, neededBytes: number): void {
  mkdirSync(folder, { recursive: true })
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  if (free >= neededBytes) return
  throw new StackError(
    `The disk of ${folder} has ${megabytes(free)} free, and ${megabytes(neededBytes)} are needed`,
    `Make room, or choose another folder with BACKSTOP_CACHE`,
  )
}

/** Runs `mongod --version`, the only reliable proof that all linked libraries exist. */
export async function requireMongodRuns(mongod: string): Promise<void> {
  try {
    await runProgram(mongod, ['--version'], { timeoutMs: VERSION_MS })
  } catch (error) {
    refuseIfSlow(error)
    const library = error instanceof ProgramFailure ? /lib[\w.+-]+\.so[.\d]*/.exec(error.run.output)?.[0] : undefined
    const remedy = library?.startsWith('libcurl')
      ? installCommand('libcurl4', 'libcurl')
      : installCommand('libssl3', 'openssl-libs')
    throw new StackError(
      `mongod does not run on this machine${library ? `: ${library} is missing` : ''}`,
      remedy,
      error,
    )
  }
}

/**
 * The `java` of JAVA_HOME if it is new enough for all parts; else undefined, and the downloaded one is used. Read from
 * its `release` file, because running java to get its version would take a quarter of a second.
 */
export function javaOfJavaHome(env: NodeJS.ProcessEnv): string | undefined {
  const home = env.JAVA_HOME
  if (!home || !existsSync(join(home, 'bin', 'java'))) return undefined
  try {
    const major = Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(join(home, 'release'), 'utf8'))?.[1])
    return major >= 21 ? join(home, 'bin', 'java') : undefined
  } catch {
    return undefined
  }
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`
}

function installCommand(debianPackages: string, redHatPackages: string): string {
  if (process.platform === 'darwin') return 'Install python.org or Homebrew Python: brew install python'
  if (existsSync('/usr/bin/dnf')) return `sudo dnf install -y ${redHatPackages}`
  return `sudo apt-get update && sudo apt-get install -y ${debianPackages}`
}
