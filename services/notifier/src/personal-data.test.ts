import type { ChannelDocument } from '@backstop/channels'
import type { Mail } from '@backstop/channels/deliver'
import {
  action,
  alert,
  discordChannel,
  emailChannel,
  PROJECT,
  pagerDutyChannel,
  slackChannel,
  teamsChannel,
  webhookChannel,
} from '@backstop/channels/test'
import { type Alert, ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier, startWithChannels } from '../test/memory-notifier.ts'
import { DEFAULT_STORM_SETTINGS } from './storm/rules/storm-settings.ts'

const CANARY = /Canary Customer|canary@example\.com|clerk@acme\.example/
const SHOWN = { shows_personal_data: true } as const
const HIDDEN = { shows_personal_data: false } as const

const USER = 'clerk@acme.example'
const ORIGIN = { channel: 'dashboard', key_name: null, user: USER, request_id: null, idempotency_key: null } as const
const CUSTOMER = { id: 'cus_1', name: 'Canary Customer', email: 'canary@example.com' }

function canaryAlert(facts: Parameters<typeof alert>[0] = {}): Alert {
  const opened = alert(facts)
  if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
  const shown = action({ project_id: PROJECT, provider: 'subscription', customer: CUSTOMER, origin: ORIGIN })
  return { ...opened, data: { ...opened.data, action: shown } }
}

type MakeChannel = (setting: { shows_personal_data?: boolean }) => ChannelDocument

/** A channel of each kind. A new kind needs a line here; the first test says so. */
const CHANNELS: { readonly [K in ChannelKind]?: MakeChannel } = {
  webhook: setting => webhookChannel('chn_webhook', 'https://webhook.example.com/', undefined, setting),
  slack: setting => slackChannel('chn_slack', 'https://hooks.slack.com/services/T0/B0/one', setting),
  email: setting => emailChannel('chn_email', ['ops@example.com'], setting),
  pagerduty: setting => pagerDutyChannel('chn_pagerduty', 'https://pagerduty.example.com/', 'a routing key', setting),
  discord: setting => discordChannel('chn_discord', 'https://discord.example.com/', setting),
  teams: setting => teamsChannel('chn_teams', 'https://teams.example.com/', setting),
}
const KINDS = Object.entries(CHANNELS)

test('a channel of every kind is tested', () => {
  expect(Object.keys(CHANNELS).toSorted()).toEqual(ChannelKind.options.toSorted())
})

async function deliverCanary(kind: string, channel: ChannelDocument, published = canaryAlert()) {
  const notifier = await startWithChannels(channel)
  notifier.state.reply = () => ({ status: kind === 'slack' || kind === 'webhook' ? 200 : 202, body: 'ok' })
  await notifier.publish(published)
  await notifier.clock.advance(3_000)
  const messages = [...notifier.requests.map(({ body }) => String(body)), ...notifier.mails.map(toText)]
  const stored = JSON.stringify([...notifier.collections.deliveries.values()])
  const requested = notifier.bus.stored('deliveries').map(({ value }) => String(value))
  return { messages, stored, requested: requested.join(), log: JSON.stringify(notifier.log) }
}

const toText = ({ text, html }: Mail) => text + html

describe('the name and e-mail address of a customer, and the user who made the action,', () => {
  test.each(KINDS)('reach no channel of the kind %s, record, log or topic without the setting', async (kind, make) => {
    for (const setting of [HIDDEN, {}]) {
      const { messages, stored, requested, log } = await deliverCanary(kind, make(setting))
      expect(messages).toHaveLength(1)
      expect([...messages, stored, requested, log].join()).not.toMatch(CANARY)
      expect(messages[0]?.replaceAll('\\', '')).toContain('cus_1')
    }
  })

  test.each(KINDS)('reach a channel of the kind %s with the setting, and no log', async (kind, make) => {
    const { messages, log } = await deliverCanary(kind, make(SHOWN))
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatch(CANARY)
    expect(log).not.toMatch(CANARY)
  })

  test('are left out of a retry after the setting was switched off', async () => {
    const notifier = createMemoryNotifier()
    const channel = webhookChannel('chn_hook', 'https://a.example.com/', undefined, SHOWN)
    notifier.collections.channels.set('chn_hook', channel)
    await notifier.start()
    notifier.state.reply = () => (notifier.requests.length === 1 ? 500 : 200)
    await notifier.publish(canaryAlert())
    await notifier.clock.advance(1_000)
    notifier.collections.channels.set('chn_hook', { ...channel, ...HIDDEN, version: 2 })
    await notifier.clock.advance(10_000)
    expect(notifier.requests.map(({ body }) => CANARY.test(String(body)))).toEqual([true, false])
  })
})

describe('an e-mail address in any other value, and a reason that a person wrote,', () => {
  const address = 'canary@example.com'
  const reason = 'asked by Canary Customer'
  const withAddresses = (): Alert => {
    const opened = canaryAlert()
    if (opened.event !== 'incident.opened') throw new Error('The alert is of another event')
    const facts = {
      provider: 'reseller' as const,
      subject: `sub of ${address}`,
      origin: { ...ORIGIN, channel: 'api' as const, key_name: address, idempotency_key: `${address}/1`, user: null },
      customer: { id: address, name: null, email: null },
      payment: { number: address, plan: null, refund_reason: reason, destination: null },
      links: { provider: `https://provider.example/${encodeURIComponent(address)}`, console: null },
    }
    const shown = action({ project_id: PROJECT, ...facts })
    const incident = { ...opened.data.incident, summary: `A refund of ${address} is unexpected` }
    return { ...opened, data: { ...opened.data, incident, action: shown } }
  }

  test.each(KINDS)('reach a channel of the kind %s only with the setting', async (kind, make) => {
    const canary = /Canary Customer|canary(?:@|%40)example\.com/
    const hidden = await deliverCanary(kind, make(HIDDEN), withAddresses())
    expect(hidden.messages).toHaveLength(1)
    expect([...hidden.messages, hidden.stored, hidden.requested, hidden.log].join()).not.toMatch(canary)
    expect(hidden.messages[0]?.replaceAll('\\', '')).toContain('(hidden)')
    const { messages, log } = await deliverCanary(kind, make(SHOWN), withAddresses())
    expect(messages[0]?.replaceAll('\\', '')).toContain(address)
    expect(log).not.toMatch(canary)
  })
})

describe('after a connection was deleted, the name and e-mail address of its customer', () => {
  async function startNotifier() {
    const notifier = createMemoryNotifier()
    const at = new Date(notifier.clock.now())
    const project = { _id: PROJECT, name: 'Acme', branding: {}, version: 1, created_at: at, updated_at: at }
    notifier.collections.projects.set(PROJECT, project)
    const channel = webhookChannel('chn_hook', 'https://a.example.com/', undefined, SHOWN)
    notifier.collections.channels.set('chn_hook', channel)
    await notifier.start()
    const deleteConnection = () =>
      notifier.collections.connections.set('con_1', {
        _id: 'con_1',
        project_id: PROJECT,
        name: 'Shop',
        status: 'deleted' as const,
      })
    return { ...notifier, deleteConnection }
  }

  test('are left out of an alert that is fanned out later, in its messages, its record and on the topic', async () => {
    const notifier = await startNotifier()
    notifier.deleteConnection()
    await notifier.publish(canaryAlert())
    await notifier.clock.advance(1_000)
    expect(notifier.requests).toHaveLength(1)
    const requested = notifier.bus.stored('deliveries').map(({ value }) => String(value))
    const stored = [...notifier.collections.deliveries.values()]
    expect(JSON.stringify([String(notifier.requests[0]?.body), requested, stored])).not.toMatch(CANARY)
  })

  test('are left out of a message that was fanned out before', async () => {
    const notifier = await startNotifier()
    notifier.state.reply = () => (notifier.requests.length === 1 ? 500 : 200)
    await notifier.publish(canaryAlert())
    await notifier.clock.advance(1_000)
    notifier.deleteConnection()
    await notifier.clock.advance(10_000)
    expect(notifier.requests.map(({ body }) => CANARY.test(String(body)))).toEqual([true, false])
  })
})

describe('a storm about one customer, made by one user', () => {
  async function startStorm() {
    const notifier = createMemoryNotifier()
    for (const setting of [SHOWN, HIDDEN]) {
      const id = setting === SHOWN ? 'chn_shown' : 'chn_hidden'
      const channel = slackChannel(id, `https://hooks.slack.com/services/T0/B0/${id}`, setting)
      notifier.collections.channels.set(id, channel)
    }
    notifier.state.reply = () => ({ status: 200, body: 'ok' })
    await notifier.start({ storms: DEFAULT_STORM_SETTINGS })
    const alerts = Array.from({ length: 12 }, (_, index) => {
      const at = new Date(notifier.clock.now()).toISOString()
      const one = canaryAlert({ id: `alr_${index}`, at, incident: { opened_at: at } })
      if (one.event !== 'incident.opened' || one.data.action === null) throw new Error('The alert is of another event')
      const made = { ...one.data.action, action_id: `act_${index}` }
      notifier.collections.actions.set(made.action_id, made)
      return { ...one, data: { ...one.data, action: made } }
    })
    await notifier.publish(...alerts)
    const reportsTo = (id: string) =>
      notifier.requests
        .filter(({ url }) => String(url).endsWith(id))
        .map(({ body }) => String(body))
        .filter(body => body.includes('12 unexplained refunds'))
    return { ...notifier, reportsTo }
  }

  test('names customer and user only in channels that allow it, and stores neither customer nor user', async () => {
    const notifier = await startStorm()
    await notifier.clock.advance(2 * 60_000)
    const [shown] = notifier.reportsTo('chn_shown')
    const [hidden] = notifier.reportsTo('chn_hidden')
    for (const one of [CUSTOMER.name, CUSTOMER.email, USER]) expect(shown).toContain(one)
    expect(hidden).not.toMatch(CANARY)
    expect(hidden).toContain('cus_1')
    const { storms, stormMembers } = notifier.collections
    const stored = JSON.stringify([[...storms.values()], [...stormMembers.values()], notifier.log])
    expect(storms.size).toBe(1)
    expect(stored).not.toMatch(CANARY)
  })

  test('contains nothing that was erased from its actions before the report', async () => {
    const notifier = await startStorm()
    const erased = { customer: { id: 'cus_1', name: null, email: null }, origin: { ...ORIGIN, user: null } }
    for (const id of notifier.collections.actions.keys()) notifier.collections.actions.set(id, erased)
    await notifier.clock.advance(10 * 60_000)
    const reports = [...notifier.reportsTo('chn_shown'), ...notifier.reportsTo('chn_hidden')]
    expect(reports.length).toBeGreaterThan(2)
    expect(reports.join()).not.toMatch(CANARY)
  })
})
