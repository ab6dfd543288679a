import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { describeInputFault } from '../input-fault.ts'
import { Secret } from './secret.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads a service's settings once, from environment variables or mounted files (`NAME_FILE` is the path of a file with
 * the value of NAME), and reports all invalid settings together. An empty value is treated as not set, because compose
 * files and manifests leave settings out in this way. A secret from a mounted file knows its file
 * ({@link Secret.revealLatest}).
 * @param shape one zod schema per setting, by its environment name; describe() each one
 * @param findFaults finds settings that do not fit together, one line each, among the texts that are set
 * @throws AppError `config_invalid` whose message has one line per invalid setting
 */
export function readConfig<S extends z.ZodRawShape>(
  shape: S,
  environment: Environment,
  findFaults: (given: Readonly<Record<string, string>>) => readonly string[] = () => [],
): Readonly<z.infer<z.ZodObject<S>>> {
  const faults: string[] = []
  const given: Record<string, string> = {}
  const files: Record<string, string> = {}
  for (const name of Object.keys(shape)) {
    const inline = environment[name] || undefined
    const file = environment[`${name}_FILE`] || undefined
    if (inline !== undefined && file !== undefined) faults.push(`${name}: set ${name} or ${name}_FILE, not both`)
    if (inline !== undefined) given[name] = inline
    else if (file !== undefined) {
      try {
        const text = readMounted(file)
        if (text !== '') given[name] = text
        files[name] = file
      } catch (error) {
        faults.push(`${name}_FILE: cannot read the file (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`)
      }
    }
  }
  const parsed = z.object(shape).safeParse(given, { error: describeInputFault })
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      const name = String(issue.path[0])
      if (faults.some(fault => fault.startsWith(`${name}:`) || fault.startsWith(`${name}_FILE:`))) continue
      faults.push(`${name}: ${given[name] === undefined ? 'is required' : issue.message}`)
    }
  }
  const isNamed = (fault: string) => faults.some(other => other.split(':')[0] === fault.split(':')[0])
  faults.push(...findFaults(given).filter(fault => !isNamed(fault)))
  if (faults.length > 0 || !parsed.success) {
    throw new AppError('config_invalid', `The configuration has ${faults.length} error(s):\n  ${faults.join('\n  ')}`)
  }
  const config: Record<string, unknown> = parsed.data
  for (const [name, file] of Object.entries(files)) {
    const value = config[name]
    if (value instanceof Secret) config[name] = rereadable(value, shape[name] as z.ZodType, file)
  }
  return Object.freeze(parsed.data)
}

/** Editors and `echo` end a file with a newline, which is not part of the setting. */
function readMounted(file: string): string {
  return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
}

/**
 * The file is read at each use instead of being watched, because Kubernetes replaces mounted files by a symbolic link
 * above them, which file watchers miss.
 */
function rereadable(secret: Secret, schema: z.ZodType, file: string): Secret {
  return new Secret(secret.reveal(), () => {
    try {
      const parsed = schema.safeParse(readMounted(file))
      return parsed.data instanceof Secret ? parsed.data.reveal() : undefined
    } catch {
      return undefined
    }
  })
}

/** Zod schemas for common kinds of settings. */
export const setting = {
  secret: () =>
    z
      .string()
      .min(1)
      .transform(value => new Secret(value))
      .meta(SECRET_METADATA),
  port: (fallback: number) => wholeNumber(fallback, 0, 65_535),
  integer: wholeNumber,
  /** http or https only, because `localhost:8081` is a valid URL with the scheme `localhost`. */
  url: () => z.url({ protocol: /^https?$/, error: 'Give a whole URL that begins with http:// or https://' }),
  /** A comma-separated list; spaces around the items are removed. */
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

/** Metadata of the schema of a secret, so that docs/configuration.md shows which settings are secrets. */
export const SECRET_METADATA = { secret: true }

/** Digits only, because Number() reads a space as 0 and 0x10 as 16. */
function wholeNumber(fallback: number, min: number, max: number) {
  const message = `Give a whole number from ${min} to ${max}`
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine(value => value >= min && value <= max, message)
    .meta({ minimum: min, maximum: max })
    .default(fallback)
}
