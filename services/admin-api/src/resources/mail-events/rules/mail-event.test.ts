import { describe, expect, test } from 'vitest'
import { commandOf, type ProviderReport, readAddress, readPostmarkEvent, readSesMessage } from './mail-event.ts'

/** Samples of the Amazon SES developer guide ("Notification examples"), with the X-Backstop-Project header added. */
const sesMail = {
  timestamp: '2016-01-27T14:59:38.237Z',
  source: 'john@example.com',
  messageId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000',
  destination: ['jane@example.com'],
  headersTruncated: false,
  headers: [
    { name: 'From', value: '"John Doe" <john@example.com>' },
    { name: 'X-Backstop-Project', value: 'prj_1' },
  ],
}
const sesBounce = {
  notificationType: 'Bounce',
  bounce: {
    bounceType: 'Permanent',
    reportingMTA: 'dns; email.example.com',
    bouncedRecipients: [
      {
        emailAddress: 'jane@example.com',
        status: '5.1.1',
        action: 'failed',
        diagnosticCode: 'smtp; 550 5.1.1 <jane@example.com>... User',
      },
    ],
    bounceSubType: 'General',
    timestamp: '2016-01-27T14:59:38.237Z',
    feedbackId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa068a-000000',
    remoteMtaIp: '127.0.2.0',
  },
  mail: sesMail,
}
const sesComplaint = {
  notificationType: 'Complaint',
  complaint: {
    userAgent: 'AnyCompany Feedback Loop (V0.01)',
    complainedRecipients: [{ emailAddress: 'richard@example.com' }],
    complaintFeedbackType: 'abuse',
    arrivalDate: '2016-01-27T14:59:38.237Z',
    timestamp: '2016-01-27T14:59:38.237Z',
    feedbackId: '000001378603177f-18c07c78-fa81-4a58-9dd1-fedc3cb8f49a-000000',
  },
  mail: sesMail,
}

/** The sample of Postmark's "Bounce webhook". */
const postmark = {
  RecordType: 'Bounce',
  MessageStream: 'outbound',
  ID: 43233720368,
  Type: 'HardBounce',
  TypeCode: 1,
  Name: 'Hard bounce',
  Tag: 'Test',
  MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
  Metadata: { project: 'prj_1' },
  ServerID: 23,
  Description: 'The server was unable to deliver your message (ex: unknown user, mailbox not found).',
  Details: 'Test bounce details',
  Email: 'john@example.com',
  From: 'sender@example.com',
  BouncedAt: '2019-11-05T16:33:54.9070259Z',
  DumpAvailable: true,
  Inactive: true,
  CanActivate: true,
  Subject: 'Test subject',
}

const ses = (message: unknown) => readSesMessage(JSON.stringify(message))
const events = (report: ProviderReport) =>
  report.kind === 'events' ? report.events.map(({ kind, address, projectId }) => [kind, address, projectId]) : report

const soft = { ...sesBounce, bounce: { ...sesBounce.bounce, bounceType: 'Transient' } }
const notSpam = { ...sesComplaint, complaint: { ...sesComplaint.complaint, complaintFeedbackType: 'not-spam' } }
const published = { ...sesBounce, notificationType: undefined, eventType: 'Bounce' }
const two = {
  bouncedRecipients: [{ emailAddress: 'A <A@Example.com>' }, { emailAddress: 'b@example.com' }, { emailAddress: '?' }],
}

describe('the reports of mail providers', () => {
  test.each<{ name: string; report: ProviderReport; expected: unknown }>([
    { name: 'SES: bounced for good', report: ses(sesBounce), expected: [['hard_bounce', 'jane@example.com', 'prj_1']] },
    { name: 'SES: bounced for now', report: ses(soft), expected: [['soft_bounce', 'jane@example.com', 'prj_1']] },
    { name: 'SES: complaint', report: ses(sesComplaint), expected: [['complaint', 'richard@example.com', 'prj_1']] },
    {
      name: 'SES: taken out of the spam folder',
      report: ses(notSpam),
      expected: { kind: 'ignored', reason: 'not_spam' },
    },
    {
      name: 'SES: an event with tags',
      report: ses({ ...published, mail: { ...sesMail, headers: [], tags: { project: ['prj_2'] } } }),
      expected: [['hard_bounce', 'jane@example.com', 'prj_2']],
    },
    {
      name: 'SES: several recipients, one unreadable',
      report: ses({ ...sesBounce, bounce: { ...sesBounce.bounce, ...two } }),
      expected: [
        ['hard_bounce', 'a@example.com', 'prj_1'],
        ['hard_bounce', 'b@example.com', 'prj_1'],
      ],
    },
    {
      name: 'SES: a mail that names no project',
      report: ses({ ...sesBounce, mail: { messageId: 'x' } }),
      expected: [['hard_bounce', 'jane@example.com', null]],
    },
    {
      name: 'SES: delivered',
      report: ses({ notificationType: 'Delivery', mail: sesMail, delivery: {} }),
      expected: { kind: 'ignored', reason: 'other_event' },
    },
    { name: 'SES: no JSON', report: readSesMessage('Hello'), expected: expect.objectContaining({ kind: 'malformed' }) },
    {
      name: 'Postmark: hard',
      report: readPostmarkEvent(postmark),
      expected: [['hard_bounce', 'john@example.com', 'prj_1']],
    },
    {
      name: 'Postmark: soft',
      report: readPostmarkEvent({ ...postmark, Type: 'SoftBounce' }),
      expected: [['soft_bounce', 'john@example.com', 'prj_1']],
    },
    {
      name: 'Postmark: spam complaint',
      report: readPostmarkEvent({ ...postmark, RecordType: 'SpamComplaint', Type: 'SpamComplaint' }),
      expected: [['complaint', 'john@example.com', 'prj_1']],
    },
    {
      name: 'Postmark: out of office',
      report: readPostmarkEvent({ ...postmark, Type: 'AutoResponder' }),
      expected: { kind: 'ignored', reason: 'other_bounce' },
    },
    {
      name: 'Postmark: opened',
      report: readPostmarkEvent({ RecordType: 'Open' }),
      expected: { kind: 'ignored', reason: 'other_event' },
    },
    {
      name: 'Postmark: a project that is none',
      report: readPostmarkEvent({ ...postmark, Metadata: { project: '../x' } }),
      expected: [['hard_bounce', 'john@example.com', null]],
    },
    {
      name: 'Postmark: without address',
      report: readPostmarkEvent({ ...postmark, Email: 'nobody' }),
      expected: expect.objectContaining({ kind: 'malformed' }),
    },
    {
      name: 'Postmark: nothing',
      report: readPostmarkEvent(null),
      expected: expect.objectContaining({ kind: 'malformed' }),
    },
  ])('$name', ({ report, expected }) => expect(events(report)).toEqual(expected))

  test("gives the same command for a repeated report, with the server's answer", () => {
    const [first] = [ses(sesBounce), ses(sesBounce)].map(report => {
      if (report.kind !== 'events' || report.events[0]?.projectId == null) throw new Error('No event was read')
      return commandOf('ses-sns', { ...report.events[0], projectId: report.events[0].projectId })
    })
    expect(first).toEqual({
      kind: 'suppress_address',
      command_id: expect.stringMatching(/^cmd_/),
      project_id: 'prj_1',
      requested_at: '2016-01-27T14:59:38.237Z',
      address: 'jane@example.com',
      reason: 'hard_bounce',
      detail: 'smtp; 550 5.1.1 <jane@example.com>... User',
    })
  })
})

test.each([
  { given: 'a@b.example', read: 'a@b.example' },
  { given: '"A, B" <A@b.example>', read: 'a@b.example' },
  { given: 'a@b.example\r\nx', read: undefined },
  { given: 'a@b.example, c@d.example', read: undefined },
  { given: 7, read: undefined },
])('the address in $given is $read', ({ given, read }) => expect(readAddress(given)).toBe(read))
