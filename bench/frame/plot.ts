import type { Compared, ComparedReading } from './compare.ts'

const WIDTH = 720
const LABEL_WIDTH = 220
const BAR_HEIGHT = 18
const ROW_HEIGHT = 26
const HEAD_HEIGHT = 30
/** Room for the number behind a bar. */
const NUMBER_WIDTH = 110

/** Draws the medians of all readings as bars, with a line from the least to the most of the rounds. An SVG document. */
export function toSvg(comparisons: readonly Compared[]): string {
  let y = 0
  const parts: string[] = []
  for (const { name, readings } of comparisons) {
    for (const reading of readings) {
      parts.push(`<g transform="translate(0 ${y})">${drawReading(name, reading)}</g>`)
      y += HEAD_HEIGHT + reading.contenders.length * ROW_HEIGHT + ROW_HEIGHT / 2
    }
  }
  const size = `viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`
}

function drawReading(comparison: string, { name, unit, contenders }: ComparedReading): string {
  const largest = Math.max(...contenders.flatMap(({ values }) => values))
  const scale = (WIDTH - LABEL_WIDTH - NUMBER_WIDTH) / largest
  const bars = contenders.map(({ name, values, median }, index) => {
    const y = HEAD_HEIGHT + index * ROW_HEIGHT
    const middle = y + BAR_HEIGHT / 2
    const [least, most] = [Math.min(...values), Math.max(...values)].map(value => LABEL_WIDTH + value * scale)
    const number = median.toLocaleString('en', { maximumSignificantDigits: 3 })
    return `<text x="${LABEL_WIDTH - 8}" y="${middle + 4}" text-anchor="end">${escapeXml(name)}</text>
<rect x="${LABEL_WIDTH}" y="${y}" width="${median * scale}" height="${BAR_HEIGHT}" fill="${index === 0 ? '#1f6feb' : '#9aa4b2'}"/>
<line x1="${least}" x2="${most}" y1="${middle}" y2="${middle}" stroke="#111"/>
<text x="${WIDTH - NUMBER_WIDTH + 12}" y="${middle + 4}">${number} ${unit}</text>`
  })
  return `<text x="8" y="20" font-weight="bold">${escapeXml(`${comparison}: ${name}`)}</text>\n${bars.join('\n')}`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
