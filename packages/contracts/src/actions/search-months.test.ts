import { expect, test } from 'vitest'
import { markOfKey, monthMark, monthMarks, textOfKey } from './search-months.ts'

test('the marks of all months are in the order of the index, the newest first, and keys without a month last', () => {
  const marks = monthMarks(Date.UTC(2027, 1, 28))
  expect(marks.map(mark => (mark === '' ? '' : 9999 - Number(mark.slice(1, 5))))).toEqual([
    ...[2703, 2702, 2701, 2612, 2611],
    '',
  ])
  expect(marks.slice(0, -1)).toEqual(marks.slice(0, -1).toSorted())
})

test.each(['2025-03-01T00:00:00Z', '2026-10-31T23:59:59Z', '2026-11-30T00:00:00Z', '2026-12-31T23:59:59Z'])(
  'a search in the month of %s finds its keys',
  time => {
    const at = Date.parse(time)
    expect(monthMarks(at)).toContain(monthMark(at))
  },
)

test('the clock of a search may be behind at the end of a month', () => {
  expect(monthMarks(Date.UTC(2026, 10, 30, 23, 59, 59))).toContain(monthMark(Date.UTC(2026, 11, 1)))
})

test.each([
  { key: ' 7388/pi_1', mark: ' 7388/', text: 'pi_1' },
  { key: '7388/pi_1', mark: '', text: '7388/pi_1' },
  { key: 'pi_1', mark: '', text: 'pi_1' },
])('the key "$key" has the text $text', ({ key, mark, text }) => {
  expect({ mark: markOfKey(key), text: textOfKey(key) }).toEqual({ mark, text })
})
