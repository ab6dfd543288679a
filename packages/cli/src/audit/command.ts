import type { Command } from 'commander'
import { addCommand, addGroup } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import type { Surroundings } from '../surroundings.ts'

const CAUSES = {
  row_missing: 'it was removed',
  row_changed: 'it was changed',
  link_broken: 'the row before it was changed or replaced',
} as const

/** `backstop audit …` */
export function addAudit(program: Command, surroundings: Surroundings): void {
  const audit = addGroup(program, 'audit', 'Check that nobody changed the audit')
  addCommand(
    audit,
    'verify',
    'Verify the hash chain of the whole audit. Keep the printed hash elsewhere, and compare it with the same row later.',
    'backstop audit verify',
  ).action(async (options: JsonOption) => {
    const client = openClient(surroundings)
    let page = await client.audit.verify()
    const { head } = page
    let { verified } = page
    // Each page continues below the last one, so the first page has the newest row.
    while (page.broken === null && page.next_sequence !== null) {
      surroundings.err(`${verified} rows verified\n`)
      page = await client.audit.verify({ from_sequence: page.next_sequence })
      verified += page.verified
    }
    const { broken, state } = page
    const newest = head === null ? 'There are none yet' : `The newest is row ${head.sequence}: ${head.hash}`
    const text = broken === null ? `All ${verified} rows are unchanged. ${newest}\n` : ''
    printItem({ state, verified, head, broken }, text, options, surroundings)
    if (broken === null) return
    throw new CommandFault(
      'failed',
      `The audit is not as it was written. Row ${broken.sequence}: ${CAUSES[broken.reason]}`,
      'Compare it with a backup, and find out who may write the database',
    )
  })
}
