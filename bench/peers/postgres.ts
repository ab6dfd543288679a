import { execFileSync } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '@backstop/kit/test'
import { choosePorts } from '@backstop/stack'
import { POSTGRES_PROGRAMS, requirePeer } from './install.ts'
import { startProgram } from './programs.ts'

/** The part of the package `pg` that is used. */
interface Pg {
  readonly Pool: new (options: { connectionString: string; max: number }) => Pool
}
interface Pool {
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
  /** A broken idle connection would otherwise end the process. */
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

export interface Postgres {
  readonly port: number
  readonly url: string
  /** Counts the rows of a table. */
  count(table: string): Promise<number>
  close(): Promise<void>
}

/** The migrations of stripe-sync-engine need this name. */
export const POSTGRES_USER = 'postgres'
/** PostgreSQL refuses to run as root. This is the number of `nobody`. */
const NOBODY = { uid: 65_534, gid: 65_534 }

/**
 * Starts an empty PostgreSQL with its default settings: each commit is synced to the disk. `stopPrograms` stops it; its data is deleted when
 * this process exits.
 */
export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'backstop-peer-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const user = process.getuid?.() === 0 ? NOBODY : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const { postgres: port } = await choosePorts({ postgres: {} })
  const data = join(folder, 'data')
  const init = ['-D', data, '-U', POSTGRES_USER, '--auth=trust', '--encoding=UTF8', '--locale=C']
  execFileSync(join(POSTGRES_PROGRAMS, 'initdb'), init, {
    ...user,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-c', 'unix_socket_directories=']
  startProgram(join(POSTGRES_PROGRAMS, 'postgres'), args, { ...user, cwd: folder })
  const url = `postgres://${POSTGRES_USER}@127.0.0.1:${port}/postgres`
  const { Pool } = requirePeer('pg') as Pg
  const pool = new Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {})
  const isReady = () =>
    pool.query('SELECT 1').then(
      () => true,
      () => false,
    )
  await until('PostgreSQL to be ready', isReady, { timeoutMs: 30_000 })
  return {
    port,
    url,
    async count(table) {
      const { rows } = await pool.query(`SELECT count(*) FROM ${table}`)
      return Number(rows[0]?.count)
    },
    close: () => pool.end(),
  }
}
