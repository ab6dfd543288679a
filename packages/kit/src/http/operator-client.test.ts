import { expect, onTestFinished, test } from 'vitest'
import { type Answer, startReceiver } from '../../test/receiver.ts'
import { createOperatorClient } from './operator-client.ts'

async function sendTo(answer: Answer) {
  const receiver = await startReceiver(answer)
  const client = createOperatorClient()
  onTestFinished(async () => {
    await client.stop()
    await receiver.stop()
  })
  return client.send({ url: receiver.url, method: 'POST', body: '{}' })
}

test('an answer with a long body is an answer, of which the beginning is read', async () => {
  const answer = await sendTo((_request, response) => void response.writeHead(200).end('x'.repeat(1_000_000)))
  expect(answer).toEqual({ status: 200, text: 'x'.repeat(200) })
})

test('an answer whose body does not end is an answer', async () => {
  const answer = await sendTo((_request, response) => void response.writeHead(202).write('accepted'))
  expect(answer).toEqual({ status: 202, text: 'accepted' })
})

test('a receiver that does not answer is unavailable, and the message names the reason', async () => {
  await expect(sendTo(() => {})).rejects.toMatchObject({ code: 'unavailable', message: 'No answer (TimeoutError)' })
})
