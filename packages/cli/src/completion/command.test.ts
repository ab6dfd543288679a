import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { completionScript } from './command.ts'

const WORDS = new Map([
  ['', ['incidents', 'explain', '--help']],
  ['incidents', ['list', 'ack', '--help']],
  ['incidents list', ['--state', '--limit', '--help']],
  ['incidents ack', ['--json', '--help']],
  ['explain', ['--json', '--help']],
])

/** The completions that bash offers for the last of these words. */
function completions(...words: string[]): string[] {
  const script = `${completionScript('bash', WORDS)}
    COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _backstop
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.split('\n').filter(line => line !== '')
}

test.each([
  { words: ['backstop', ''], offers: ['incidents', 'explain', '--help'] },
  { words: ['backstop', 'inc'], offers: ['incidents'] },
  { words: ['backstop', 'incidents', ''], offers: ['list', 'ack', '--help'] },
  { words: ['backstop', 'incidents', 'list', '--s'], offers: ['--state'] },
  { words: ['backstop', 'incidents', 'list', '--state', 'open', '--l'], offers: ['--limit'] },
  { words: ['backstop', 'incidents', 'ack', 'list', '--j'], offers: ['--json'] },
  { words: ['backstop', 'explain', 'x'], offers: [] },
])('bash completes $words to $offers', ({ words, offers }) => {
  expect(completions(...words)).toEqual(offers)
})

test('fish offers subcommands once, and options of a command with subcommands', () => {
  const script = completionScript('fish', WORDS)
  expect(script).toContain(
    "complete -c backstop -f -n '__fish_seen_subcommand_from incidents; and not __fish_seen_subcommand_from list ack' -a 'list ack'",
  )
  expect(script).toContain(
    "complete -c backstop -f -n '__fish_seen_subcommand_from incidents; and __fish_seen_subcommand_from list' -l state",
  )
})

test('zsh uses the script of bash', () => {
  expect(completionScript('zsh', WORDS)).toBe(
    `autoload -Uz bashcompinit && bashcompinit\n${completionScript('bash', WORDS)}`,
  )
})
