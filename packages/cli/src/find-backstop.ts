import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment, Secret } from '@backstop/kit/config'
import { type CredentialConfig, commonSettings, readServiceConfig } from '@backstop/kit/service'
import { z } from 'zod'
import { CommandFault } from './exit-code.ts'
import { readLogin } from './stored-login.ts'
import type { Surroundings } from './surroundings.ts'

/** The address of the management API with an API key. */
export interface ApiAddress {
  /** The base URL without a trailing slash. */
  readonly url: string
  readonly key: string
}

/** The address of the database. */
export interface DatabaseAddress {
  readonly url: Secret
  readonly name: string
  /** Files for TLS, in place of options in the URL. */
  readonly files: Pick<CredentialConfig, 'MONGO_CA' | 'MONGO_CERT' | 'MONGO_KEY'>
}

/** The fields of `.backstop/run.json` that commands need. A running `npm start` writes this file. */
const RunFile = z.object({
  admin: z.string(),
  key: z.string(),
  mongo: z.string(),
  database: z.string(),
  kafka: z.string().optional(),
  registry: z.string().optional(),
  topic_prefix: z.string().optional(),
  project: z.string().optional(),
})

const START = 'Start it with  npm start'

/** Finds the management API. @throws CommandFault if neither the environment nor a running `npm start` has its address */
export function findApi({ environment, folder }: Surroundings): ApiAddress {
  const { BACKSTOP_URL: url, BACKSTOP_API_KEY: key } = environment
  if (url && key) return { url: url.replace(/\/+$/, ''), key }
  if (url || key) {
    const missing = url ? 'BACKSTOP_API_KEY' : 'BACKSTOP_URL'
    throw new CommandFault('misused', `${missing} is not set: set both BACKSTOP_URL and BACKSTOP_API_KEY, or neither`)
  }
  const run = findRunFile(folder)
  if (run !== undefined) return { url: run.admin, key: run.key }
  // A product in this folder has precedence, so that nobody changes a distant one by mistake.
  const login = readLogin(environment)
  if (login !== undefined) return login
  throw new CommandFault(
    'nothing_there',
    'No Backstop runs in this folder or one above it',
    `${START}, or use another one: backstop login <url>, or BACKSTOP_URL and BACKSTOP_API_KEY`,
  )
}

/** The project of the running `npm start`; undefined if commands use another Backstop, or if it has no demo. */
export function findStartedProject({ environment, folder }: Pick<Surroundings, 'environment' | 'folder'>) {
  return environment.BACKSTOP_URL ? undefined : findRunFile(folder)?.project
}

const databaseSettings = {
  MONGO_URL: commonSettings.MONGO_URL,
  MONGO_DB: commonSettings.MONGO_DB,
  MONGO_CA: commonSettings.MONGO_CA,
  MONGO_CERT: commonSettings.MONGO_CERT,
  MONGO_KEY: commonSettings.MONGO_KEY,
} as const

/**
 * Finds the database.
 * @throws CommandFault if neither the environment nor a running `npm start` has its address
 * @throws AppError `config_invalid`
 */
export function findDatabase({ environment, folder }: Surroundings): DatabaseAddress {
  if (environment.MONGO_URL || environment.MONGO_URL_FILE) return readDatabase(environment)
  const run = findRunFile(folder)
  if (run !== undefined) {
    const { mongo, database } = run
    return readDatabase({ MONGO_URL: mongo, MONGO_DB: database })
  }
  throw new CommandFault(
    'nothing_there',
    'No Backstop runs in this folder or one above it',
    `${START}, or set MONGO_URL and MONGO_DB to use another one`,
  )
}

function readDatabase(environment: Environment): DatabaseAddress {
  const { MONGO_URL, MONGO_DB, ...files } = readServiceConfig(databaseSettings, environment)
  return { url: MONGO_URL, name: MONGO_DB, files }
}

/** Reads the run file in this folder or in the nearest folder above it that has one. */
export function findRunFile(folder: string): z.infer<typeof RunFile> | undefined {
  const path = join(folder, '.backstop', 'run.json')
  const text = readText(path)
  if (text === undefined) return dirname(folder) === folder ? undefined : findRunFile(dirname(folder))
  const run = RunFile.safeParse(parseJson(text))
  if (run.success) return run.data
  throw new CommandFault('failed', `${path} is not of this version`, 'Stop that npm start and start it again')
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
