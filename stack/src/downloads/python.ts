import { fileURLToPath } from 'node:url'
import { ProgramFailure, type ProgramResult, runProgram } from '../run-program.ts'
import { StackError } from '../stack-contract.ts'

const PINS = new URL('./pins/', import.meta.url)

/** The environment for Python without the caller's PYTHONPATH and PYTHONHOME, which belong to another program. */
export function pythonEnvironment(env: NodeJS.ProcessEnv, extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const { PYTHONPATH: _path, PYTHONHOME: _home, ...rest } = env
  return {
    PATH: process.env.PATH,
    ...rest,
    PYTHONUNBUFFERED: '1',
    PIP_USER: '0',
    PIP_ROOT_USER_ACTION: 'ignore',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    ...extra,
  }
}

/**
 * Installs exactly the packages of pins/<pin>.txt into a separate folder. pip refuses packages without a pinned hash.
 */
export async function pipInstall(pin: string, target: string, env: NodeJS.ProcessEnv): Promise<void> {
  await pip(['install', '--target', target, '--no-compile', ...pinnedArguments(pin)], pin, env)
}

/** Downloads the wheel of pins/<pin>.txt for this machine into a folder. */
export async function pipDownload(pin: string, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  await pip(['download', '--dest', folder, ...pinnedArguments(pin)], pin, env)
}

/** Runs a Python file of this folder. */
export async function runPythonFile(name: string, args: string[], env: NodeJS.ProcessEnv): Promise<ProgramResult> {
  const file = fileURLToPath(new URL(`./${name}`, import.meta.url))
  return runProgram('python3', [file, ...args], { timeoutMs: 300_000, env: pythonEnvironment(env) })
}

function pinnedArguments(pin: string): string[] {
  const file = fileURLToPath(new URL(`${pin}.txt`, PINS))
  return ['--quiet', '--no-input', '--no-deps', '--only-binary', ':all:', '--require-hashes', '-r', file]
}

async function pip(args: string[], pin: string, env: NodeJS.ProcessEnv): Promise<void> {
  try {
    await runProgram('python3', ['-m', 'pip', ...args], { timeoutMs: 900_000, env: pythonEnvironment(env) })
  } catch (error) {
    const output = error instanceof ProgramFailure ? error.run.output : String(error)
    const { what, remedy } = explainPipFailure(output)
    throw new StackError(`pip could not download what pins/${pin}.txt names: ${what}`, remedy, error)
  }
}

/** Summarises pip's output as a failure with its remedy. */
export function explainPipFailure(output: string): { what: string; remedy: string } {
  const lines = output.trim().split('\n')
  const errors = lines.filter(line => line.startsWith('ERROR:'))
  const what = (errors.length > 0 ? errors : lines.slice(-3)).join('\n')
  if (/do not match the hashes/i.test(output)) {
    return { what, remedy: 'The package index served other content than was pinned: do not use it' }
  }
  // After such a warning pip also reports that it found no version, so this check comes first.
  if (/connection broken|Read timed out|Temporary failure in name resolution|ProxyError|SSLError/i.test(output)) {
    return {
      what,
      remedy: 'Check that this machine reaches its Python package index, then start again: what is complete is kept',
    }
  }
  if (/No matching distribution/i.test(output)) {
    return {
      what,
      remedy:
        'There is no ready-made package for this machine: start Docker, or give KAFKA_BROKERS, MONGO_URL, SCHEMA_REGISTRY_URL and SMTP_URL',
    }
  }
  return { what, remedy: 'Start again: what is complete is kept' }
}
