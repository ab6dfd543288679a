import { expect, test } from 'vitest'
import { sampleIncident, settingWith } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { digestMessage } from './digest.ts'
import { slackMessage } from './message.ts'
import { slackPage } from './page.ts'

const CONSOLE = 'https://console.example.com'

test.each(Object.entries(SAMPLE_ALERTS))('the page of %s shows its title and no missing value', (_, sample) => {
  const html = slackPage(slackMessage(sample(), settingWith(CONSOLE)))
  expect(html).toMatch(/<h1>.+<\/h1>/)
  expect(html).not.toMatch(/undefined|\[object|mrkdwn|plain_text/)
})

test('a page has the labels of the facts in bold and a button to the console', () => {
  const html = slackPage(slackMessage(SAMPLE_ALERTS['incident.opened'](), settingWith(CONSOLE)))
  expect(html).toContain('<strong>Payment</strong><br>2014-7788')
  expect(html).toContain(`<a href="${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b">Open in the console</a>`)
})

test('the page of a digest links each line', () => {
  const html = slackPage(
    digestMessage([sampleIncident(), sampleIncident({ incident_id: 'inc_2' })], settingWith(CONSOLE)),
  )
  expect(html.match(/<a href="https:\/\/console\.example\.com\/p\/prj_sample\/incidents\//g)).toHaveLength(2)
})

test('a message without blocks is a page, too', () => {
  expect(slackPage({ text: 'a &amp; b' })).toContain('<p>a &amp; b</p>')
})

test('the content of an alert never becomes markup', () => {
  const hostile = '<script>1</script><img src=x onerror=1>" onclick="1'
  const alert = sampleIncident({ summary: hostile, connection_id: hostile, incident_id: hostile })
  for (const message of [
    slackMessage(alert, settingWith(CONSOLE, hostile)),
    digestMessage([alert], settingWith(CONSOLE, hostile)),
  ]) {
    expect(slackPage(message)).not.toMatch(/<script|<img|" onclick/)
  }
})
