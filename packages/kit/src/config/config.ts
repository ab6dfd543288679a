import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { Secret } from './secret.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads a service's settings once, from the environment or from mounted files (`NAME_FILE` holds the path of a file
 * whose content is NAME), and reports every fault together.
 * @param shape one zod schema per setting, by its environment name; describe() each one
 * @throws AppError `config_invalid` whose message has a line per fault
 */
export function readConfig<S extends z.ZodRawShape>(
  shape: S,
  environment: Environment,
): Readonly<z.infer<z.ZodObject<S>>> {
  const faults: string[] = []
  const given: Record<string, string> = {}
  for (const name of Object.keys(shape)) {
    const inline = environment[name]
    const file = environment[`${name}_FILE`]
    if (inline !== undefined && file !== undefined) faults.push(`${name}: set ${name} or ${name}_FILE, not both`)
    if (inline !== undefined && inline !== '') given[name] = inline
    else if (file !== undefined && file !== '') {
      try {
        // One trailing newline is how editors and `echo` end a file; it is no part of the setting.
        given[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
      } catch (error) {
        faults.push(`${name}_FILE: cannot read the file (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
      }
    }
  }
  const parsed = z.object(shape).safeParse(given)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const name = String(issue.path[0])
      if (faults.some(fault => fault.startsWith(`${name}:`) || fault.startsWith(`${name}_FILE:`))) continue
      faults.push(`${name}: ${given[name] === undefined ? 'is required' : issue.message}`)
    }
  }
  if (faults.length > 0 || !parsed.success) {
    throw new AppError('config_invalid', `The configuration has ${faults.length} fault(s):\n  ${faults.join('\n  ')}`)
  }
  return Object.freeze(parsed.data)
}

/** Zod schemas for the kinds of setting that several services share. */
export const setting = {
  secret: () =>
    z
      .string()
      .min(1)
      .transform(value => new Secret(value)),
  port: (fallback: number) => z.coerce.number().int().min(0).max(65_535).default(fallback),
  integer: (fallback: number, min: number, max: number) => z.coerce.number().int().min(min).max(max).default(fallback),
  url: () => z.url(),
  /** A comma-separated list; blanks around the items are dropped. */
  list: (fallback = '') =>
    z
      .string()
      .default(fallback)
      .transform(text =>
        text
          .split(',')
          .map(item => item.trim())
          .filter(item => item !== ''),
      ),
}
