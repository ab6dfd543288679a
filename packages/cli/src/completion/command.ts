import { Argument, type Command } from 'commander'
import type { Surroundings } from '../surroundings.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/**
 * A script that completes the words that may follow each command.
 * @param words by the path of the command, e.g. `incidents list`; '' is the program itself
 */
export function completionScript(shell: Shell, words: ReadonlyMap<string, readonly string[]>): string {
  switch (shell) {
    case 'bash':
      return bashScript(words)
    case 'zsh':
      return `autoload -Uz bashcompinit && bashcompinit\n${bashScript(words)}`
    case 'fish':
      return fishScript(words)
    default:
      return shell satisfies never
  }
}

/** The path is every word before the cursor that names a command. */
function bashScript(words: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...words].map(([path, next]) => `    '${path}') words='${next.join(' ')}' ;;`)
  return `_backstop() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' at word words=''
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case " ${[...words.keys()]
      .filter(path => path !== '')
      .map(path => `${path} `)
      .join('| ')}" in
      *" \${path:+$path }$word "*) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _backstop backstop
`
}

function fishScript(words: ReadonlyMap<string, readonly string[]>): string {
  const lines = [...words].map(([path, next]) => {
    const seen = path.split(' ').filter(word => word !== '')
    const inside = seen.map(word => `__fish_seen_subcommand_from ${word}`)
    const commands = next.filter(word => !word.startsWith('--'))
    // A word that is already there must not be offered again.
    const outside = commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(' ')}`]
    const condition = [...inside, ...outside].join('; and ') || 'true'
    const options = next.filter(word => word.startsWith('--')).map(word => `-l ${word.slice(2)}`)
    return [
      ...(commands.length === 0 ? [] : [`complete -c backstop -f -n '${condition}' -a '${commands.join(' ')}'`]),
      ...options.map(option => `complete -c backstop -f -n '${condition}' ${option}`),
    ].join('\n')
  })
  return `${lines.join('\n')}\n`
}

/** `backstop completion` */
export function addCompletion(program: Command, surroundings: Surroundings): void {
  program
    .command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', '\nExample:\n  source <(backstop completion bash)\n  backstop completion fish | source')
    .action((shell: Shell) => surroundings.out(completionScript(shell, wordsOf(program))))
}

/** The words that may follow each command, by the command's path: '' is `backstop` itself. */
export function wordsOf(command: Command, path = ''): ReadonlyMap<string, readonly string[]> {
  const words = [
    ...command.commands.map(child => child.name()),
    ...command.options.flatMap(({ long }) => (long === undefined || long === null ? [] : [long])),
    '--help',
  ]
  const below = command.commands.flatMap(child => [...wordsOf(child, `${path} ${child.name()}`.trim())])
  return new Map([[path, words], ...below])
}
