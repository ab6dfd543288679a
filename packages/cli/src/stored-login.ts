import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '@backstop/kit/config'
import { z } from 'zod'

/** The file of `backstop login`. */
const Login = z.object({ url: z.string(), key: z.string() })
export type Login = z.infer<typeof Login>

/** The path of a file in the user's configuration folder for this program. */
export function configPath(environment: Environment, name: string): string {
  const base = environment.XDG_CONFIG_HOME || join(environment.HOME || homedir(), '.config')
  return join(base, 'backstop', name)
}

/** Reads a JSON file; undefined if it is missing or of another form. */
export function readPrivateFile<T>(path: string, schema: z.ZodType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Writes a JSON file that only this user can read. */
export function writePrivateFile(path: string, content: object): void {
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 })
  writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 })
  // The mode above applies only to a new file.
  chmodSync(path, 0o600)
}

const loginPath = (environment: Environment) => configPath(environment, 'login.json')

export const readLogin = (environment: Environment) => readPrivateFile(loginPath(environment), Login)

/** @returns the path of the file */
export function storeLogin(environment: Environment, login: Login): string {
  writePrivateFile(loginPath(environment), login)
  return loginPath(environment)
}

export function removeLogin(environment: Environment): void {
  rmSync(loginPath(environment), { force: true })
}
