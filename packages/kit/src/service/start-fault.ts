import type { Environment } from '../config/config.ts'
import { AppError } from '../errors.ts'

/** Why a service did not start, in one line with the remedy. An error that nobody foresaw is a bug: its stack follows. Pure. */
export function describeStartFault(error: unknown, environment: Environment): string {
  if (error instanceof AppError) return error.message
  if (!(error instanceof Error)) return String(error)
  return describeListenFault(error, environment) ?? error.stack ?? error.message
}

/** The system's errors for a port or an address that a service cannot listen on; undefined for another error. */
function describeListenFault(error: NodeJS.ErrnoException, environment: Environment): string | undefined {
  const { syscall, code, port, address }: typeof error & { port?: number; address?: string } = error
  if (syscall !== 'listen') return undefined
  // OPS_PORT has no default port, so it is the port in question only if it is set.
  const setting = Number(environment.OPS_PORT) === port ? 'OPS_PORT' : 'PORT'
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use: stop the other program or set ${setting}`
    case 'EACCES':
      return `This user may not listen on port ${port}: set ${setting} to 1024 or more`
    case 'EADDRNOTAVAIL':
      return `This host does not have the address ${address}: correct HOST`
    default:
      return undefined
  }
}
