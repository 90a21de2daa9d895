import { expect, it } from "vitest";

import { innermostLoops } from "./loop-counts.ts";

it("counts AMD's instructions of innermost loops that multiply and add", () => {
  const code = `BB0:
\tv_fma_f32 v1, v2, v3, v1                ; before the loops
BB1:
\tv_fmac_f32_e32 v1, v2, v3               ; of the outer loop
BB2:
\ts_load_b64 s[0:1], s[2:3], null         ; f4040001
\tds_load_b128 v[4:7], v1                 ; db7c0000
\tv_fma_mix_f32 v1, v4, v5, v1            ; d6000000
\tv_dual_fmac_f32 v1, v2, v3 :: v_dual_fmac_f32 v4, v5, v6
\tv_pk_fma_f16 v1, v2, v3, v1             ; d6000000
\tv_dot4_i32_iu8 v1, v2, v3, v1           ; d6000000
\tv_mad_u32_u24 v1, v2, v3, v4            ; an address
\ts_waitcnt lgkmcnt(0)                    ; bf89fc07
\ts_cbranch_scc0 BB2                      ; bfa10047
BB3:
\tv_mov_b32_e32 v1, 0                     ; no multiply-add
\ts_cbranch_scc1 BB3                      ; bfa10047
\ts_cbranch_scc1 BB1                      ; bfa10047
BB4:
\tv_fma_f32 v1, v2, v3, v1                ; of a loop around one without multiply-adds
BB5:
\ts_cbranch_scc1 BB5                      ; bfa10047
\ts_cbranch_scc1 BB4                      ; bfa10047
`;
  expect(innermostLoops(code)).toEqual([
    { multiplyAdds: 9, alu: 5, memory: 2 },
    { multiplyAdds: 1, alu: 1, memory: 0 },
  ]);
});

it("counts Intel's", () => {
  const code = `Max dispatch width = 16

LABEL1:
mad(16)         g1<1>F          g2<8,8,1>F      g3<8,8,1>F      g4<1,1,1>F { align1 1H };
LABEL2:
send(16)        g10UD           g26UD           nullUD          0x04025efe 0x00000000 { align1 1H @1 $0 };
sync nop(1)                     null<0,1,0>UB                   { align1 WE_all 1N $1.dst };
mad(16)         g1<1>F          g2<8,8,1>F      g3<8,8,1>F      g4<1,1,1>F { align1 1H };
mad(16)         g5<1>D          g2<8,8,1>D      g3<8,8,1>D      g4<1,1,1>D { align1 1H };
dp4a(16)        g7<1>D          g8<8,8,1>D      g9<8,8,1>D      g6<1,1,1>D { align1 1H };
mov(8)          g93<1>UD        g0.1<0,1,0>UD                   { align1 WE_all 1Q };
(+f0.0) if(16)  JIP:  LABEL3          UIP:  LABEL3              { align1 1H };
LABEL3:
endif(16)       JIP:  LABEL4                                    { align1 1H };
(-f0.0) while(16) JIP:  LABEL2                                 { align1 1H };
(-f0.0) while(16) JIP:  LABEL1                                 { align1 1H };
`;
  expect(innermostLoops(code)).toEqual([{ multiplyAdds: 5, alu: 3, memory: 1 }]);
});
