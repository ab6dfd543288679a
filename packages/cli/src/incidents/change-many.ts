import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import type { Context, Printed } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { counted } from '../output/rules/counted.ts'
import { type Column, tableOf } from '../output/table.ts'
import { readTime } from '../read-time.ts'

type Body = Parameters<Client['incidents']['change']>[0]
type Answer = Awaited<ReturnType<Client['incidents']['change']>>
type Preview = Extract<Answer, { dry_run: true }>

const NAMES = ['connection', 'code', 'state', 'from', 'to'] as const
const POLL_MS = 500

export interface ManyOptions {
  readonly filter: readonly string[]
  readonly project: string
  readonly dryRun?: true
  readonly yes?: true
}

/** Changes all incidents of a filter: shows what would change, asks, and waits until it is done. @throws CommandFault */
export async function changeMany(
  { client, now, err, readInput }: Context,
  change: Body['change'],
  { filter, project, dryRun, yes }: ManyOptions,
): Promise<Printed> {
  const body = { project_id: project, filter: readFilter(filter, now()), change }
  const preview = await client.incidents.change({ ...body, dry_run: true })
  if (!('dry_run' in preview)) throw new CommandFault('failed', 'The preview was not answered as a preview')
  if (dryRun) return { item: preview, text: previewText(preview) }
  err(previewText(preview))
  const question = `Type yes to ${change.kind} ${preview.count === 1 ? 'it' : 'them'}: `
  if (!yes && (await readInput(question, 'shown')).trim() !== 'yes') {
    throw new CommandFault('failed', 'Nothing was changed', 'Type yes, or pass --yes')
  }
  // Incidents that opened after the preview are not changed.
  const begun = await client.incidents.change({ ...body, filter: { ...body.filter, opened_to: preview.opened_to } })
  if ('dry_run' in begun) throw new CommandFault('failed', 'The change was answered as a preview')
  let progress = begun
  while (progress.state === 'running') {
    await pause(POLL_MS)
    progress = await client.incidentBulks.get(begun.bulk_id)
  }
  const { bulk_id, changed, refused } = progress
  return { item: progress, text: `${bulk_id}: ${changed} changed, ${refused} refused by their state\n` }
}

/** The filter of `name=value` words. */
function readFilter(words: readonly string[], now: number): Body['filter'] {
  const iso = (name: string, text: string) => new Date(readTime(name, text, now)).toISOString()
  const filter: Body['filter'] = {}
  for (const word of words) {
    const [, name = '', value = ''] = /^([a-z]+)=(.+)$/.exec(word) ?? []
    if (name === 'connection') filter.connection_id = value
    // The API names the known values if it refuses one.
    else if (name === 'code') filter.code = value as NonNullable<Body['filter']['code']>
    else if (name === 'state') filter.state = value as NonNullable<Body['filter']['state']>
    else if (name === 'from') filter.opened_from = iso('from', value)
    else if (name === 'to') filter.opened_to = iso('to', value)
    else throw new CommandFault('misused', `--filter does not know ${word}`, `Give ${NAMES.join('=…, ')}=…`)
  }
  return filter
}

function previewText({ count, is_complete, money, incidents }: Preview): string {
  const sums = money.map(({ amount, currency }) => formatMoney(amount, currency)).join(', ')
  const about = `${is_complete ? '' : 'More than '}${counted(count, 'incident')}${sums === '' ? '' : ` about ${sums}`}\n`
  const columns: Column<Preview['incidents'][number]>[] = [
    { title: 'INCIDENT', of: ({ incident_id }) => incident_id },
    { title: 'STATE', of: ({ state }) => state },
    { title: 'SUMMARY', of: ({ summary }) => summary },
  ]
  const more = count > incidents.length ? `Only the newest ${incidents.length} are shown\n` : ''
  return `${about}${incidents.length === 0 ? '' : tableOf(columns, incidents)}${more}`
}
