import { escapeHtml } from '../escape-html.ts'
import { buttonsHtml, factsHtml, messagePage } from '../message-page.ts'
import type { Preview, PreviewView } from '../preview.ts'
import { type PagerDutyEvent, type PagerDutySeverity, pagerDutyEvent } from './message.ts'

const ACCENTS: Readonly<Record<PagerDutySeverity, string>> = {
  critical: '#b3261e',
  error: '#b3261e',
  warning: '#8a6d00',
  info: '#2f6f44',
}

const VERBS = { acknowledge: 'Acknowledges', resolve: 'Resolves' } as const

/** The preview contains no routing key. */
export function pagerDutyPreview({ alert, ...setting }: PreviewView): Preview {
  const event = pagerDutyEvent(alert, setting)
  return { body: event, text: textOf(event), html: pageOf(event) }
}

function textOf(event: PagerDutyEvent): string {
  if (event.event_action !== 'trigger') return `${VERBS[event.event_action]} ${event.dedup_key}`
  const { summary, custom_details: details } = event.payload
  return [summary, '', ...Object.entries(details).map(([label, value]) => `${label}: ${value}`)].join('\n')
}

function pageOf(event: PagerDutyEvent): string {
  if (event.event_action !== 'trigger') {
    return messagePage({
      accent: ACCENTS.info,
      title: `${VERBS[event.event_action]} the alert in PagerDuty`,
      body: factsHtml([{ label: 'Alert', value: event.dedup_key }]),
      footer: 'PagerDuty',
    })
  }
  const { client, dedup_key, links, payload } = event
  return messagePage({
    accent: ACCENTS[payload.severity],
    title: payload.summary,
    body: [
      `<p>${escapeHtml(`${payload.severity} · ${payload.source} · ${payload.class}`)}</p>`,
      factsHtml(Object.entries(payload.custom_details).map(([label, value]) => ({ label, value }))),
      buttonsHtml(links.map(({ href, text }) => ({ url: href, text }))),
    ].join('\n'),
    footer: `${client} · ${dedup_key}`,
  })
}
