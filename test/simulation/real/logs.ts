import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LogLine {
  readonly level?: string
  readonly msg?: string
  readonly error?: { readonly type?: string }
}

/** The lines of the services' logs that tell of a fault of the product itself, and not of a dependency. */
export function readProductFaults(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.log') && name !== 'provision.log')
    .flatMap(name =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter(line => tellsOfProductFault(line))
        .map(line => `${name} has ${line.slice(0, 600)}`),
    )
}

/** @param text a line of a log; what is no JSON was written outside of the logger */
export function tellsOfProductFault(text: string): boolean {
  const line = parse(text)
  if (line === undefined) return false
  const { type = 'AppError' } = line.error ?? {}
  return line.msg === 'consumer.fault' || (line.level === 'error' && type !== 'AppError' && !type.startsWith('Mongo'))
}

function parse(text: string): LogLine | undefined {
  try {
    return JSON.parse(text) as LogLine
  } catch {
    return undefined
  }
}
