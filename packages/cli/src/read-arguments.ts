import { type ParseArgsConfig, parseArgs } from 'node:util'
import { CommandFault } from './fault.ts'

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * Reads a command's arguments.
 * @throws CommandFault for what the command does not know
 */
export function readArguments<const T extends Options>(args: readonly string[], options: T) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    throw new CommandFault('misused', faultIn(error as Error, options), 'backstop help  shows how it is called')
  }
}

/** In our words: what Node says of a fault goes on about how one could have meant something else. */
function faultIn(error: Error, options: Options): string {
  const option = /'(-[^\s'=]+)/.exec(error.message)?.[1]
  if (option === undefined) return error.message
  const known = options[option.replace(/^-+/, '')]
  if (known === undefined) return `There is no option ${option}`
  return known.type === 'boolean' ? `${option} takes no value` : `${option} wants a value`
}
