import { html, svg } from 'lit';
import type { TemplateResult } from 'lit';

/** The vendor's name with its jar. */
export const brandView = (): TemplateResult => html`
  <span class="brand">
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect x="9" y="4" width="14" height="5" rx="1.5" class="lid" />
      <path
        class="glass"
        d="M10 11h12c1.700 0 3 1.300 3 3v10c0 2.200-1.800 4-4 4H11c-2.200 0-4-1.800-4-4V14c0-1.700 1.300-3 3-3z"
      />
      <path class="filling" d="M7 19h18v5c0 2.200-1.800 4-4 4H11c-2.200 0-4-1.800-4-4z" />
    </svg>
    Larder
  </span>
`;

// For each jar: x, width, height, how full it is from 0 to 1, and the class of its filling.
const jars = [
  [14, 44, 66, 0.72, 'honey'],
  [70, 58, 50, 0.55, 'plum'],
  [140, 38, 84, 0.8, 'moss'],
  [190, 52, 58, 0.64, 'cream'],
  [254, 42, 74, 0.5, 'beet'],
] as const;

/** A shelf of jars. */
export const shelfView = (): TemplateResult => html`
  <svg class="shelf" viewBox="0 0 310 116" aria-hidden="true">
    ${jars.map(([x, width, height, full, filling]) => {
      const top = 104 - height;
      return svg`
        <rect class="glass" x=${x} y=${top} width=${width} height=${height} rx="9" />
        <path class=${filling} d=${fillingPath(x, width, height * full)} />
        <rect class="lid" x=${x + 6} y=${top - 9} width=${width - 12} height="9" rx="2.500" />
        <rect class="label" x=${x + 8} y=${104 - height * 0.48} width=${width - 16} height=${height * 0.22} rx="2" />
      `;
    })}
    <rect class="board" x="0" y="104" width="310" height="7" rx="2" />
  </svg>
`;

/** The path of a jar's filling, with the round bottom of the jar. */
function fillingPath(x: number, width: number, height: number): string {
  const [left, right, top] = [x + 3, x + width - 3, 104 - height];
  return `M${left} ${top}H${right}V94q0 7-7 7H${left + 7}q-7 0-7-7z`;
}
