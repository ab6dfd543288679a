import { createSmtpMailer } from '@backstop/channels/deliver'
import { emailChannel, type SmtpScript, startScriptedSmtpServer } from '@backstop/channels/test'
import { Secret } from '@backstop/kit/config'
import { afterAll, describe, expect, test } from 'vitest'
import { attemptDelivery, createLoopbackEgress } from './real-receivers.ts'

const egress = createLoopbackEgress()
afterAll(() => egress.stop())

const TWENTY = Array.from({ length: 20 }, (_, index) => `person${index}@example.com`)

/** Makes two attempts to deliver an alert to twenty addresses, at a server with scripted answers. */
async function deliverTwice(answers: SmtpScript['answers'], to: string[] = TWENTY) {
  const server = await startScriptedSmtpServer(answers === undefined ? {} : { answers })
  const mailer = createSmtpMailer({ url: new Secret(server.url), from: 'alerts@example.com', requireTls: true })
  try {
    const attempted = await attemptDelivery(emailChannel('chn_1', to), { egress, mailer }, { attempts: 2 })
    const fieldOf = (name: string) => server.mails.map(mail => new RegExp(`^${name}: (.*)$`, 'm').exec(mail)?.[1] ?? '')
    return { ...attempted, to: fieldOf('To'), messageIds: fieldOf('Message-ID') }
  } finally {
    await mailer.stop()
    await server.stop()
  }
}

const times = (list: readonly string[]) => [...Map.groupBy(list, one => one).values()].map(group => group.length)

describe('an alert to twenty people', () => {
  test('that a server took for fourteen goes to the other six at the next attempt, and to nobody twice', async () => {
    let [accepted, refused] = [0, 0]
    const { delivery, health, to } = await deliverTwice({
      'MAIL FROM': () => {
        if (accepted === 14 && refused < 6) {
          refused += 1
          return '454 4.7.0 too much mail for now'
        }
        accepted += 1
        return '250 fine'
      },
    })
    expect(to.toSorted()).toEqual(TWENTY.toSorted())
    const error = expect.stringMatching(/^Accepted for 14 of 20 addresses, pending for 6\. .*454 4\.7\.0 too much mail/)
    expect(delivery).toMatchObject({
      state: 'delivered',
      attempts: [
        { outcome: 'failed', status: 454, error },
        { outcome: 'delivered', status: 250, error: null },
      ],
    })
    const ends = delivery.ended_addresses?.map(({ attempt, end }) => `${end} by ${attempt}`)
    expect(Map.groupBy(ends ?? [], one => one)).toEqual(
      new Map([
        ['taken by 1', Array(14).fill('taken by 1')],
        ['taken by 2', Array(6).fill('taken by 2')],
      ]),
    )
    expect(JSON.stringify(delivery.ended_addresses)).not.toContain('person')
    expect(health).toMatchObject({ failing_since: null, last_success_at: expect.any(Date) })
  })

  test('that a slow server took for ten goes to those without an answer and those that waited, as the same mail', async () => {
    let contents = 0
    const { delivery, messageIds } = await deliverTwice({
      // Five connections hang after the server has the mail; five mails wait for a connection.
      content: () => {
        contents += 1
        return contents > 10 && contents <= 15 ? 'hang' : '250 queued'
      },
    })
    const error = expect.stringMatching(/^Accepted for 10 of 20 addresses, pending for 10\. .*did not answer in time/)
    expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ outcome: 'failed', error }, { error: null }] })
    expect(times(messageIds).toSorted()).toEqual([...Array(15).fill(1), ...Array(5).fill(2)])
  })

  test('of whom one does not exist is not sent to that one again', async () => {
    const rcpts: string[] = []
    let isLater = false
    const { delivery } = await deliverTwice({
      'RCPT TO': line => {
        rcpts.push(line)
        if (line.includes('person0@')) return '550 5.1.1 no such user'
        if (!line.includes('person1@') || isLater) return '250 fine'
        isLater = true
        return '450 4.2.1 busy'
      },
    })
    expect(times(rcpts).filter(count => count > 1)).toEqual([2])
    expect(rcpts.at(-1)).toContain('person1@')
    const error = expect.stringMatching(
      /^The mail was sent to 19 of 20 addresses: the mail server refused 1 permanently/,
    )
    expect(delivery).toMatchObject({
      state: 'delivered',
      attempts: [{ outcome: 'failed' }, { outcome: 'delivered', error }],
    })
  })
})
