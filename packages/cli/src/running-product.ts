import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commonSettings, type Environment, readConfig, type Secret, setting } from '@backstop/kit'
import { z } from 'zod'
import { CommandFault } from './fault.ts'
import type { Surroundings } from './surroundings.ts'

/** Where the management API is, and a key that it takes. */
export interface ApiAddress {
  /** Without a slash at the end. */
  readonly url: string
  readonly key: string
}

/** Where the database is, and what the product that writes it is set to. */
export interface DatabaseAddress {
  readonly url: Secret
  readonly name: string
  /** Milliseconds from first sight to second look. */
  readonly recheckDelayMs: number
}

/** `.backstop/run.json` of a running `npm start`, as far as it is needed here. */
const RunFile = z.object({
  admin: z.string(),
  key: z.string(),
  mongo: z.string(),
  database: z.string(),
  recheck_delay_ms: z.int(),
})

const START = 'Start it by  npm start'

/** @throws CommandFault when neither the environment nor a running start says where it is */
export function findApi({ environment, folder }: Surroundings): ApiAddress {
  const { BACKSTOP_URL: url, BACKSTOP_API_KEY: key } = environment
  if (url && key) return { url: url.replace(/\/+$/, ''), key }
  if (url || key) {
    const missing = url ? 'BACKSTOP_API_KEY' : 'BACKSTOP_URL'
    throw new CommandFault('misused', `${missing} is not set, and ${url ? 'BACKSTOP_URL' : 'BACKSTOP_API_KEY'} is`)
  }
  const run = findRun(folder)
  if (run !== undefined) return { url: run.admin, key: run.key }
  throw new CommandFault(
    'nothing_there',
    'No Backstop runs in this folder or one above it',
    `${START}, or set BACKSTOP_URL and BACKSTOP_API_KEY to those of one that runs elsewhere`,
  )
}

const databaseSettings = {
  MONGO_URL: commonSettings.MONGO_URL,
  MONGO_DB: commonSettings.MONGO_DB,
  RECHECK_DELAY_MS: setting.integer(60_000, 0, 86_400_000),
} as const

/**
 * @throws CommandFault when neither the environment nor a running start says where it is
 * @throws AppError `config_invalid`
 */
export function findDatabase({ environment, folder }: Surroundings): DatabaseAddress {
  if (environment.MONGO_URL || environment.MONGO_URL_FILE) return readDatabase(environment)
  const run = findRun(folder)
  if (run !== undefined) {
    const { mongo, database, recheck_delay_ms } = run
    return readDatabase({ MONGO_URL: mongo, MONGO_DB: database, RECHECK_DELAY_MS: String(recheck_delay_ms) })
  }
  throw new CommandFault(
    'nothing_there',
    'No Backstop runs in this folder or one above it',
    `${START}, or set MONGO_URL and MONGO_DB to those of one that runs elsewhere`,
  )
}

function readDatabase(environment: Environment): DatabaseAddress {
  const config = readConfig(databaseSettings, environment)
  return { url: config.MONGO_URL, name: config.MONGO_DB, recheckDelayMs: config.RECHECK_DELAY_MS }
}

/** What the nearest start left, in this folder or one above it. */
function findRun(folder: string): z.infer<typeof RunFile> | undefined {
  const path = join(folder, '.backstop', 'run.json')
  const text = readText(path)
  if (text === undefined) return dirname(folder) === folder ? undefined : findRun(dirname(folder))
  const run = RunFile.safeParse(parsed(text))
  if (run.success) return run.data
  throw new CommandFault('failed', `${path} is not of this version`, 'Stop what runs there, and start it again')
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
