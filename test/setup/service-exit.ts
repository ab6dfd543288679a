/** Runs a program of the product until it ends by itself. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { nodeEnvironment } from '@backstop/kit/test'

const ROOT = join(import.meta.dirname, '../..')

export interface ProgramEnd {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** @param path of the program, from the root of the repository */
export async function runUntilExit(path: string, environment: Readonly<Record<string, string>>): Promise<ProgramEnd> {
  const child = spawn(process.execPath, [join(ROOT, path)], {
    env: { ...nodeEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [exitCode]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode, stdout, stderr }
}
